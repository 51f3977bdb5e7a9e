import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The second one reads what came since the first one began. */
const QUIET_TURNS = 2
/** More than the connections that a kernel keeps. */
const MAX_TURNS = 1024

/**
 * Lets an HTTP/1.1 server accept no more connections. Its own `close` would also end idle connections, on which a request
 * may be under way. Node documents that since version 19, and no way around it. Checked with Node 20.20.
 * The kernel resets connections that it has accepted and Node has not, so these are accepted before. Node accepts one in each turn.
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
