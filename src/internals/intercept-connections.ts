import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Passes each new connection of an HTTP/1.1 server to `inspect` first. Node documents that a server serves a socket that
 * is emitted as its `connection`. It does not document that a listener of that event does so. Checked with Node 20.20.
 * @param inspect calls `serve` when the connection is HTTP/1.1
 */
export function interceptConnections(
  server: Server,
  inspect: (socket: Socket, serve: () => void) => void,
): void {
  const serving = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    inspect(socket, () => {
      for (const serve of serving) serve.call(server, socket)
    })
  })
}
