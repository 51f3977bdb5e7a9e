import {
  createPublicClient,
  fallback,
  type HttpTransport,
  http,
  type PublicClient,
  type Transport,
  type WebSocketTransport,
  webSocket,
} from 'viem'
import { socketClientCache } from 'viem/utils'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'
import { createNodeFetch, type NodeFetch } from './node-fetch.js'
import { EndpointPausedError, pauseMs } from './retry-after.js'
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
  /** Ends the connection that is kept open, if any; the next call opens another. */
  disconnect(): void
}

const CALL_TIMEOUT_MS = 5000
/** Calls in one HTTP request: fewer at a node that refuses so many. */
const BATCH_CALLS = [50, 10, 1] as const
/** How long no larger batches are tried. */
const LARGE_BATCH_PAUSE_MS = 10 * 60_000
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
    /^wss?:/i.test(url) ? withMetrics(socketTransport(url), onCall) : httpTransport(url, nodeFetch, onCall),
  )
  const endpoints = transports.map((transport, index) => toEndpoint(transport, urls[index] ?? ''))
  const client = createPublicClient({ transport: fallback(transports, { retryCount: 0 }) })
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

/** A transport that asks nothing until the time that the node has named in `Retry-After`. */
function httpTransport(url: string, nodeFetch: NodeFetch, onCall: OnCall): HttpTransport {
  let pausedUntil = Number.NEGATIVE_INFINITY
  const batches = createBatchLimit()
  const transports = BATCH_CALLS.map((batchSize, step) => {
    const transport = http(url, {
      fetchFn: nodeFetch.fetch(() => batches.refused(step)),
      timeout: CALL_TIMEOUT_MS,
      retryCount: 0,
      batch: batchSize > 1 && { batchSize },
      maxResponseBodySize: MAX_ANSWER_BYTES,
      onFetchResponse({ status, headers }) {
        const pause = pauseMs(status, headers.get('retry-after'), Date.now())
        if (pause > 0) pausedUntil = performance.now() + pause
      },
    })
    return withMetrics(transport, onCall)
  })
  return (options) => {
    const made = transports.map((transport) => transport(options))
    const [first] = made as [(typeof made)[number]]
    const request: typeof first.request = async (...call) => {
      const leftMs = pausedUntil - performance.now()
      if (leftMs > 0) throw new EndpointPausedError(leftMs)
      return (made[batches.step()] ?? first).request(...call)
    }
    return { ...first, request }
  }
}

/** Which of the sizes of batches a node takes; the largest is tried again after a while. */
function createBatchLimit() {
  let step = 0
  let refusedAt = 0
  return {
    step() {
      if (step > 0 && performance.now() - refusedAt > LARGE_BATCH_PAUSE_MS) step = 0
      return step
    },
    refused(at: number) {
      step = Math.max(step, Math.min(at + 1, BATCH_CALLS.length - 1))
      refusedAt = performance.now()
    },
  }
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

function toEndpoint(transport: ReturnType<typeof httpTransport> | WebSocketTransport, url: string): Endpoint {
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
