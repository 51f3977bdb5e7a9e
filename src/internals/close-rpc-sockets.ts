import { socketClientCache } from 'viem/utils'

/**
 * Closes viem's open WebSockets to a URL. viem shares sockets by URL in a cache that is exported, but not documented. It keeps
 * a closed socket until `close` is called on it, so that calls would go on failing. Checked with viem 2.57.1.
 */
export function closeRpcSockets(url: string): void {
  for (const socket of [...socketClientCache.values()]) if (socket.url === url) socket.close()
}
