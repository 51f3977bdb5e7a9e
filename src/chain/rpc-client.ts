import {
  createPublicClient,
  fallback,
  http,
  type PublicClient,
  type WebSocketTransport,
  webSocket,
} from 'viem'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'

/** The JSON-RPC endpoints of one chain. */
export interface RpcClient {
  /** Asks the endpoints in order until one answers. */
  readonly client: PublicClient
  /** Each endpoint alone, in the order given. */
  readonly endpoints: readonly Endpoint[]
  /** Ends the connections that are kept open. */
  close(): Promise<void>
}

/** One JSON-RPC endpoint. */
export interface Endpoint {
  readonly client: PublicClient
  /**
   * Tells of each new head as it comes; undefined where the endpoint is no WebSocket.
   * @param onLost called when no more will be told
   */
  readonly subscribeToHeads:
    | ((onHead: (head: TimedHeader) => void, onLost: () => void) => Promise<void>)
    | undefined
  /** Ends the connection that is kept open, if any; the next call opens another. */
  disconnect(): Promise<void>
}

const CALL_TIMEOUT_MS = 5000
/** Calls in one HTTP request; some providers allow no more. */
const MAX_BATCH_CALLS = 50
/** The logs of a crowded block must come through, since there is no smaller thing to ask for. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024

/**
 * Builds the clients of a chain's JSON-RPC endpoints.
 * @param urls http, https, ws or wss URLs, in order of preference
 */
export function createRpcClient(urls: readonly string[]): RpcClient {
  const transports = urls.map((url) => (/^wss?:/i.test(url) ? socketTransport(url) : httpTransport(url)))
  const endpoints = transports.map(toEndpoint)
  const client = createPublicClient({ transport: fallback(transports, { retryCount: 1, retryDelay: 100 }) })
  return {
    client: client as PublicClient,
    endpoints,
    async close() {
      await Promise.all(endpoints.map((endpoint) => endpoint.disconnect()))
    },
  }
}

function httpTransport(url: string) {
  return http(url, {
    timeout: CALL_TIMEOUT_MS,
    retryCount: 0,
    batch: { batchSize: MAX_BATCH_CALLS },
    maxResponseBodySize: MAX_ANSWER_BYTES,
  })
}

/** A socket of viem that reconnects by itself gives up in the end, and prints its URL on the way. */
function socketTransport(url: string) {
  return webSocket(url, { timeout: CALL_TIMEOUT_MS, retryCount: 0, reconnect: false })
}

function toEndpoint(transport: ReturnType<typeof httpTransport> | WebSocketTransport): Endpoint {
  const client: PublicClient = createPublicClient({ transport })
  const { getRpcClient, subscribe } = client.transport as Partial<
    ReturnType<WebSocketTransport>['value'] & object
  >
  if (getRpcClient === undefined || subscribe === undefined) {
    return { client, subscribeToHeads: undefined, disconnect: async () => {} }
  }
  return {
    client,
    async subscribeToHeads(onHead, onLost) {
      await subscribe({
        params: ['newHeads'],
        onData: (data) => onHead(toHeader((data as unknown as { result: RawHeader }).result)),
        onError: onLost,
      })
    },
    /** Sockets are shared by URL inside viem, where a closed one stays until it is ended by hand. */
    async disconnect() {
      await getRpcClient().then(
        (socket) => socket.close(),
        () => {},
      )
    },
  }
}
