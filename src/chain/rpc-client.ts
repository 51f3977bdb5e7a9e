import {
  createPublicClient,
  fallback,
  type HttpTransport,
  type PublicClient,
  type Transport,
  type WebSocketTransport,
  webSocket,
} from 'viem'
import { withTimeout } from '../concurrency/with-timeout.js'
import { closeRpcSockets } from '../internals/close-rpc-sockets.js'
import { type BatchingTransport, createBatchingTransport } from './batching-transport.js'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'
import { createNodeFetch, type NodeFetch } from './node-fetch.js'
import { createRetryAfterPause } from './retry-after.js'
import { isRpcResponseError } from './rpc-error.js'

/** The JSON-RPC endpoints of one chain. */
export interface RpcClient {
  /** Calls the endpoints in order until one answers. */
  readonly client: PublicClient
  /** The endpoints, in the order of the URLs. */
  readonly endpoints: readonly Endpoint[]
  /** Cancels pending calls and closes open connections. */
  close(): void
}

/** One JSON-RPC endpoint. */
export interface Endpoint {
  readonly client: PublicClient
  /**
   * Subscribes to new heads, and replaces an earlier subscription. Undefined when the endpoint is not a WebSocket.
   * @param onLost called when the subscription ends
   * @returns whether the endpoint has accepted the subscription; throws when it does not answer
   */
  readonly subscribeToHeads:
    | ((onHead: (head: TimedHeader) => void, onLost: () => void) => Promise<boolean>)
    | undefined
  /** Whether the endpoint accepts several calls in one message, as far as its answers show. */
  takesBatches(): boolean
  /** Closes the open connection, if any. The next call opens another. */
  disconnect(): void
}

/**
 * Turns off ERC-3668. With it, a contract that reverts with `OffchainLookup` has viem request any URL, also one inside of the
 * operator's network.
 */
const NO_LOOKUPS = { ccipRead: false } as const
const CALL_TIMEOUT_MS = 5000
/** A full block of logs must fit, because a call for logs cannot be smaller than one block. 32,000 logs fit. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

/** Called when a call has ended. `refused` is an error response of the node itself. */
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
  const client = createPublicClient({ ...NO_LOOKUPS, transport: fallback(all, { retryCount: 0 }) })
  return {
    client: client as PublicClient,
    endpoints,
    close() {
      nodeFetch.close()
      for (const endpoint of endpoints) endpoint.disconnect()
    },
  }
}

/** Wraps a transport so that it reports each call to `onCall`. */
function withMetrics<T extends Transport>(transport: T, onCall: OnCall): T {
  const wrapped = (options: Parameters<T>[0]) => {
    const made = transport(options)
    const request = async (...[call, requestOptions]: Parameters<typeof made.request>) => {
      const start = performance.now()
      const report = (outcome: CallOutcome) =>
        onCall((call as { method: string }).method, outcome, (performance.now() - start) / 1000)
      try {
        const answer = await made.request(call, requestOptions)
        report('ok')
        return answer
      } catch (error) {
        report(isRpcResponseError(error) ? 'refused' : 'error')
        throw error
      }
    }
    return { ...made, request }
  }
  return wrapped as T
}

/** Builds an HTTP transport that sends no calls until the time in a `Retry-After` of the node. */
function httpTransport(url: string, nodeFetch: NodeFetch, onCall: OnCall): BatchingTransport {
  const pause = createRetryAfterPause()
  const { transport, takesBatches } = createBatchingTransport(url, nodeFetch, {
    timeout: CALL_TIMEOUT_MS,
    retryCount: 0,
    maxResponseBodySize: MAX_ANSWER_BYTES,
    onFetchResponse: ({ status, headers }) => pause.note(status, headers.get('retry-after')),
  })
  const metered = withMetrics(transport, onCall)
  const pausing: HttpTransport = (options) => {
    const made = metered(options)
    const request: typeof made.request = async (...call) => {
      pause.assertOver()
      return made.request(...call)
    }
    return { ...made, request }
  }
  return { transport: pausing, takesBatches }
}

/**
 * Builds a WebSocket transport without viem's automatic reconnects, which print the URL and end after some attempts. It bounds
 * the time of the handshake, because callers would otherwise wait for ever.
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

/** @throws Error when the promise rejects, or takes longer than the time-out of a call */
function inTime<T>(promise: Promise<T>): Promise<T> {
  // viem's sockets reject with an event and not with an error.
  const answer = promise.catch(() => Promise.reject(new Error('the WebSocket cannot be opened')))
  return withTimeout(answer, CALL_TIMEOUT_MS, 'the WebSocket does not answer')
}

function toEndpoint(
  transport: HttpTransport | WebSocketTransport,
  url: string,
): Omit<Endpoint, 'takesBatches'> {
  const client: PublicClient = createPublicClient({ ...NO_LOOKUPS, transport })
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
    disconnect: () => closeRpcSockets(url),
  }
}
