import {
  createPublicClient,
  fallback,
  type HttpTransport,
  type PublicClient,
  type Transport,
  type WebSocketTransport,
  webSocket,
} from 'viem'
import { socketClientCache } from 'viem/utils'
import { type BatchingTransport, createBatchingTransport } from './batching-transport.js'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'
import { createNodeFetch, type NodeFetch } from './node-fetch.js'
import { EndpointPausedError, retryAfterMs } from './retry-after.js'
import { isRpcResponseError } from './rpc-error.js'

/** The JSON-RPC endpoints of one chain. */
export interface RpcClient {
  /** Asks the endpoints in order until one answers. */
  readonly client: PublicClient
  /** Each endpoint alone, in the order given. */
  readonly endpoints: readonly Endpoint[]
  /** Ends the calls under way and the connections that are kept open. */
  close(): void
}

/** One JSON-RPC endpoint. */
export interface Endpoint {
  readonly client: PublicClient
  /**
   * Tells of each new head as it comes, in place of whom it told before; undefined where the endpoint is no WebSocket.
   * @param onLost called when no more will be told
   * @returns whether it will; throws when the endpoint does not answer
   */
  readonly subscribeToHeads:
    | ((onHead: (head: TimedHeader) => void, onLost: () => void) => Promise<boolean>)
    | undefined
  /** Whether the endpoint takes several calls in one message, as far as its answers show. */
  takesBatches(): boolean
  /** Ends the connection that is kept open, if any; the next call opens another. */
  disconnect(): void
}

const CALL_TIMEOUT_MS = 5000
/** The logs of a crowded block must come through, since there is no smaller thing to ask for: 32,000 of them do. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

/** Told of each call when it has ended; `refused` is an answer by which the node itself says no. */
export type OnCall = (method: string, outcome: CallOutcome, seconds: number) => void
type CallOutcome = 'ok' | 'refused' | 'error'

/**
 * Builds the clients of a chain's JSON-RPC endpoints.
 * @param urls http, https, ws or wss URLs, in order of preference
 */
export function createRpcClient(urls: readonly string[], onCall: OnCall = () => {}): RpcClient {
  const nodeFetch = createNodeFetch()
  const transports = urls.map((url) =>
    /^wss?:/i.test(url)
      ? { transport: withMetrics(socketTransport(url), onCall), takesBatches: (): boolean => true }
      : httpTransport(url, nodeFetch, onCall),
  )
  const endpoints = transports.map(({ transport, takesBatches }, index) => ({
    ...toEndpoint(transport, urls[index] ?? ''),
    takesBatches,
  }))
  const all = transports.map(({ transport }) => transport)
  const client = createPublicClient({ transport: fallback(all, { retryCount: 0 }) })
  return {
    client: client as PublicClient,
    endpoints,
    close() {
      nodeFetch.close()
      for (const endpoint of endpoints) endpoint.disconnect()
    },
  }
}

/** A transport that tells of its calls. */
function withMetrics<T extends Transport>(transport: T, onCall: OnCall): T {
  const wrapped = (options: Parameters<T>[0]) => {
    const made = transport(options)
    const request = async (...[call, requestOptions]: Parameters<typeof made.request>) => {
      const start = performance.now()
      const publish = (outcome: CallOutcome) =>
        onCall((call as { method: string }).method, outcome, (performance.now() - start) / 1000)
      try {
        const answer = await made.request(call, requestOptions)
        publish('ok')
        return answer
      } catch (error) {
        publish(isRpcResponseError(error) ? 'refused' : 'error')
        throw error
      }
    }
    return { ...made, request }
  }
  return wrapped as T
}

/** An HTTP transport that sends no call until the time that the node names in `Retry-After`. */
function httpTransport(url: string, nodeFetch: NodeFetch, onCall: OnCall): BatchingTransport {
  let pausedUntil = Number.NEGATIVE_INFINITY
  const { transport, takesBatches } = createBatchingTransport(url, nodeFetch, {
    timeout: CALL_TIMEOUT_MS,
    retryCount: 0,
    maxResponseBodySize: MAX_ANSWER_BYTES,
    onFetchResponse({ status, headers }) {
      const pause = retryAfterMs(status, headers.get('retry-after'), Date.now())
      if (pause > 0) pausedUntil = performance.now() + pause
    },
  })
  const metered = withMetrics(transport, onCall)
  const pausing: HttpTransport = (options) => {
    const made = metered(options)
    const request: typeof made.request = async (...call) => {
      const leftMs = pausedUntil - performance.now()
      if (leftMs > 0) throw new EndpointPausedError(leftMs)
      return made.request(...call)
    }
    return { ...made, request }
  }
  return { transport: pausing, takesBatches }
}

/**
 * A socket of viem that reconnects by itself gives up in the end, and prints its URL on the way. One whose handshake
 * is never answered would keep its callers for ever.
 */
function socketTransport(url: string): WebSocketTransport {
  const transport = webSocket(url, { timeout: CALL_TIMEOUT_MS, retryCount: 0, reconnect: false })
  return (options) => {
    const made = transport(options)
    const open = made.value?.getRpcClient
    const request: typeof made.request = async (...call) => {
      if (open !== undefined) await inTime(open())
      return made.request(...call)
    }
    return { ...made, request }
  }
}

/** @throws Error when that fails, or takes longer than a call may */
async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the WebSocket does not answer')), CALL_TIMEOUT_MS)
  })
  // What viem's sockets fail with is an event of theirs, and no error.
  const failed = promise.catch(() => Promise.reject(new Error('the WebSocket cannot be opened')))
  return Promise.race([failed, timeout]).finally(() => clearTimeout(timer))
}

function toEndpoint(
  transport: HttpTransport | WebSocketTransport,
  url: string,
): Omit<Endpoint, 'takesBatches'> {
  const client: PublicClient = createPublicClient({ transport })
  const { getRpcClient, subscribe } = client.transport as Partial<
    ReturnType<WebSocketTransport>['value'] & object
  >
  if (getRpcClient === undefined || subscribe === undefined)
    return { client, subscribeToHeads: undefined, disconnect: () => {} }
  let unsubscribe = () => {}
  return {
    client,
    async subscribeToHeads(onHead, onLost) {
      unsubscribe()
      await inTime(getRpcClient())
      const heads = await inTime(
        subscribe({
          params: ['newHeads'],
          onData: (data) => onHead(toHeader((data as unknown as { result: RawHeader }).result)),
          onError: onLost,
        }),
      ).catch(() => undefined)
      unsubscribe = () => void heads?.unsubscribe()
      return heads !== undefined
    },
    /** Sockets are shared by URL inside viem, where a closed one stays until it is ended by hand. */
    disconnect() {
      for (const socket of [...socketClientCache.values()]) if (socket.url === url) socket.close()
    },
  }
}
