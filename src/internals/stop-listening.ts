import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/**
 * Lets an HTTP/1.1 server accept no more connections. Its own `close` would also end idle connections, on which a request
 * may be under way. Node documents that since version 19, and no way around it. Checked with Node 20.20.
 */
export function stopListening(server: Server): void {
  NetServer.prototype.close.call(server)
}
