import { Agent } from 'undici'
import { REPLICA_HEADERS, signReplicaRequest } from './replica-signature.js'

/** Another replica of the instance, and where it is asked. */
export interface ReplicaTarget {
  /** A UUID. */
  readonly replicaId: string
  /** An origin: its REPLICA_URL. */
  readonly url: string
}

/** Sends signed requests to other replicas over keep-alive connections (docs/decisions.md, D18). */
export interface ReplicaClient {
  /**
   * @param body JSON text that no other request has
   * @param timeoutMs the longest time until the answer; at least about a second
   * @param signal ends the request
   * @returns the text of the answer
   * @throws Error when the replica does not answer, or answers with another status than 200
   */
  send(target: ReplicaTarget, body: string, timeoutMs: number, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** The path of all requests between replicas. */
export const REPLICA_PATH = '/replica'

const CONNECT_TIMEOUT_MS = 1000
/** A solver's message has at most 64 KiB. Written again, a number in it can be longer. */
const MAX_ANSWER_BYTES = 1024 * 1024
const KEEP_ALIVE_MS = 30_000

interface ReplicaClientOptions {
  /** The key that all replicas share. */
  readonly key: Uint8Array
  /** The most connections to one replica. Each carries one request at a time; more requests wait. */
  readonly connections: number
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** Builds the client. */
export function createReplicaClient({ key, connections, now }: ReplicaClientOptions): ReplicaClient {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    connections,
    maxResponseSize: MAX_ANSWER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  return {
    async send({ replicaId, url }, body, timeoutMs, signal) {
      const time = now()
      const headers = {
        'content-type': 'application/json',
        [REPLICA_HEADERS.time]: String(time),
        [REPLICA_HEADERS.signature]: signReplicaRequest(key, { replicaId, time, body }),
      }
      const answer = await agent.request({
        origin: url,
        path: REPLICA_PATH,
        method: 'POST',
        headers,
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal,
      })
      const text = await answer.body.text()
      if (answer.statusCode !== 200)
        throw new Error(`it answered ${answer.statusCode}: ${text.slice(0, 200)}`)
      return text
    },
    close: () => agent.destroy(),
  }
}
