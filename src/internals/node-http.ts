import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

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

/** The second one reads what came since the first one began. */
const QUIET_TURNS = 2
/** More than the connections that a kernel keeps. */
const MAX_TURNS = 1024

/**
 * Lets an HTTP/1.1 server accept no more connections. Its own `close` would also end idle connections, on which a request
 * may be under way. Node documents that since version 19, and no way around it. Checked with Node 20.20. The kernel resets
 * connections that it has accepted and Node has not, so these are accepted before. Node accepts one in each turn.
 */
export async function stopListening(server: Server): Promise<void> {
  let quietTurns = 0
  const onConnection = () => {
    quietTurns = 0
  }
  server.on('connection', onConnection)
  for (let turn = 0; turn < MAX_TURNS && quietTurns < QUIET_TURNS; turn++) {
    quietTurns++
    await nextTurn()
  }
  server.off('connection', onConnection)
  NetServer.prototype.close.call(server)
}

/**
 * Ends a response whose connection has ended while it waited for earlier responses of the connection. Node 20 and 22 report
 * the end only to the response that has the connection: the others get no `close` event. Node 24 reports it to all of them
 * in the same turn, which is waited for. Checked with Node 20.20, 22.23, 24.21 and 24.22.
 */
export function closeQueuedResponse(response: ServerResponse): void {
  if (response.socket !== null) return
  setImmediate(() => {
    if (!response.closed) response.destroy().emit('close')
  })
}

interface RespondingSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/**
 * Whether the headers of a response were sent on an HTTP/1.1 connection, so that other bytes would corrupt it. Node's own
 * `clientError` handler also reads `_httpMessage` for this. Checked with Node 20.20, 22.23, 24.21 and 24.22.
 */
export function hasResponseUnderWay(socket: Socket): boolean {
  return (socket as RespondingSocket)._httpMessage?.headersSent === true
}
