import { createPublicClient, fallback, http, type PublicClient, webSocket } from 'viem'

const CALL_TIMEOUT_MS = 5000

/** The JSON-RPC endpoints of one chain. */
export interface RpcClient {
  /** Asks the endpoints in order until one answers. */
  readonly client: PublicClient
  /** A client for each endpoint alone, in the order given. */
  readonly each: readonly PublicClient[]
  /** Ends the connections that are kept open. */
  close(): Promise<void>
}

/**
 * Builds the clients of a chain's JSON-RPC endpoints.
 * @param urls http, https, ws or wss URLs, in order of preference
 */
export function createRpcClient(urls: readonly string[]): RpcClient {
  const transports = urls.map((url) =>
    /^wss?:/i.test(url)
      ? webSocket(url, { timeout: CALL_TIMEOUT_MS, retryCount: 0 })
      : http(url, { timeout: CALL_TIMEOUT_MS, retryCount: 0, batch: true }),
  )
  const each = transports.map((transport) => createPublicClient({ transport }))
  const client = createPublicClient({ transport: fallback(transports, { retryCount: 1, retryDelay: 100 }) })
  return {
    client: client as PublicClient,
    each,
    async close() {
      await Promise.allSettled(each.map((endpoint) => closeSocket(endpoint)))
    },
  }
}

/** Sockets are shared by URL inside viem, so closing an endpoint's own client ends the shared one too. */
async function closeSocket({ transport }: PublicClient): Promise<void> {
  if (transport.type !== 'webSocket') return
  const socket = await transport.getRpcClient()
  socket.close()
}
