import { Agent, type Dispatcher } from 'undici'
import { REPLICA_HEADERS, signReplicaRequest } from './replica-signature.js'

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
  /** The longest time until the answer begins, and between its parts; at least about a second. */
  readonly timeoutMs: number
  /** Called with each line of the answer when it comes. */
  readonly onLine: (line: string) => void
}

/** Sends signed requests to other replicas over keep-alive connections (docs/decisions.md, D18). */
export interface ReplicaClient {
  /**
   * @param signal ends the request
   * @returns at the end of the answer
   * @throws Error when the replica does not answer to the end, or answers with another status than 200
   */
  send(target: ReplicaTarget, request: ReplicaRequest, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** The path of all requests between replicas. */
export const REPLICA_PATH = '/replica'

const CONNECT_TIMEOUT_MS = 1000
const KEEP_ALIVE_MS = 30_000
/** The longest error that is shown. */
const MAX_ERROR_LENGTH = 200

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
    keepAliveTimeout: KEEP_ALIVE_MS,
  })

  function headersOf(replicaId: string, body: string): string[] {
    const time = now()
    const signature = signReplicaRequest(key, { replicaId, time, body })
    const { time: timeName, signature: signatureName } = REPLICA_HEADERS
    return ['content-type', 'application/json', timeName, String(time), signatureName, signature]
  }

  return {
    send: ({ replicaId, url }, { body, timeoutMs, onLine }, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const reader = new LineReader(onLine, signal, resolve, reject)
        const headers = headersOf(replicaId, body)
        const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
        agent.dispatch(
          { origin: url, path: REPLICA_PATH, method: 'POST', headers, body, ...timeouts },
          reader,
        )
      }),
    close: () => agent.destroy(),
  }
}

/** Reads the lines of one answer from undici. */
class LineReader implements Dispatcher.DispatchHandler {
  readonly #onLine: (line: string) => void
  readonly #signal: AbortSignal
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #rest: Buffer = Buffer.alloc(0)

  constructor(
    onLine: (line: string) => void,
    signal: AbortSignal,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#onLine = onLine
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    signal.addEventListener('abort', this)
  }

  /** Ends the request when its signal is aborted. */
  handleEvent(): void {
    this.#end()
    this.#reject(this.#signal.reason)
    this.#controller?.abort(toError(this.#signal.reason))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#signal.aborted) controller.abort(toError(this.#signal.reason))
  }

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#status !== 200) return
    for (let end = this.#rest.indexOf('\n'); end >= 0; end = this.#rest.indexOf('\n')) {
      const line = this.#rest.toString('utf8', 0, end)
      this.#rest = this.#rest.subarray(end + 1)
      this.#onLine(line)
    }
  }

  onResponseEnd(): void {
    this.#end()
    if (this.#status === 200) {
      this.#resolve()
      return
    }
    const text = this.#rest.toString('utf8', 0, MAX_ERROR_LENGTH)
    this.#reject(new Error(`it answered ${this.#status}: ${text}`))
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end()
    this.#reject(error)
  }

  #end(): void {
    this.#signal.removeEventListener('abort', this)
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
