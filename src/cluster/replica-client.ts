import { randomUUID } from 'node:crypto'
import { type Dispatcher, Pool } from 'undici'
import type { Clock } from '../../packages/protocol/src/clock.js'
import { shorten } from '../../packages/protocol/src/values/text.js'
import { REPLICA_HEADERS, REPLICA_PATH, signReplicaText } from './replica-signature.js'

/** Another replica of the instance, and where it is asked. */
export interface ReplicaTarget {
  /** A UUID. */
  readonly replicaId: string
  /** An origin: its REPLICA_URL. */
  readonly url: string
}

/** A request to another replica. */
export interface ReplicaRequest {
  /** JSON text that no other request has. */
  readonly body: string
  /** The longest time until the end of the answer. A whole number. */
  readonly timeoutMs: number
  /** Called with each line of the answer when it comes. */
  readonly onLine: (line: string) => void
}

/** Sends signed requests to one replica (docs/decisions.md, D18). Each that is under way has a connection of its own. */
export type ReplicaClient = ReturnType<typeof createReplicaClient>

const POOL_OPTIONS: Pool.Options = {
  connect: { timeout: 1000 },
  /** More than any answer. */
  maxResponseSize: 4 * 1024 * 1024,
  // The time of a request is its limit.
  headersTimeout: 0,
  bodyTimeout: 0,
}
/** The longest error that is shown. */
const MAX_ERROR_LENGTH = 200

/** Builds the client, without connections at first. @param key that all replicas share */
export function createReplicaClient({ replicaId, url }: ReplicaTarget, key: Uint8Array, clock: Clock) {
  const [pool, checks] = [new Pool(url, POOL_OPTIONS), new Pool(url, POOL_OPTIONS)]

  async function post(via: Dispatcher, { body, timeoutMs, onLine }: ReplicaRequest): Promise<void> {
    const time = clock.now()
    const answer = await via.request({
      path: REPLICA_PATH,
      method: 'POST',
      headers: {
        [REPLICA_HEADERS.time]: String(time),
        [REPLICA_HEADERS.signature]: signReplicaText(key, { replicaId, time, text: body }),
      },
      body,
      signal: clock.timeoutSignal(timeoutMs),
    })
    if (answer.statusCode === 200) return readLines(answer.body, onLine)
    const reason = shorten(await answer.body.text(), MAX_ERROR_LENGTH)
    throw new Error(`it answered ${answer.statusCode}: ${reason}`)
  }

  return {
    /**
     * @returns at the end of the answer
     * @throws Error when the replica does not answer to the end
     */
    send: (request: ReplicaRequest): Promise<void> => post(pool, request),
    /**
     * Asks for a sign of life, on a connection that is kept for checks: after an outage, it stays silent like the others.
     * @throws Error when the replica does not answer in time
     */
    async check(timeoutMs: number): Promise<void> {
      const id = randomUUID()
      let answer = ''
      const onLine = (line: string) => {
        answer = line
      }
      await post(checks, { body: JSON.stringify({ type: 'ping', id }), timeoutMs, onLine })
      if (answer !== id) throw new Error('another server answers there')
    },
    /** Ends all connections. The requests and checks under way fail with this error. */
    close(error: Error): void {
      void pool.destroy(error)
      void checks.destroy(error)
    },
  }
}

async function readLines(body: AsyncIterable<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let begun = ''
  for await (const part of body) {
    const lines = `${begun}${decoder.decode(part, { stream: true })}`.split('\n')
    begun = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
