import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import type { WebSocketServer } from 'ws'
import type { PendingUpgrades } from '../port/pending-upgrades.js'
import { NO_TALKERS, superviseWebSockets, type Talkers } from './websocket-control.js'

const PING_INTERVAL_MS = 30_000
/** Parts of one message. Each has a cost in addition to its bytes, and no client has a reason to send any. */
const MAX_FRAGMENTS = 8
/** Reads of the connection that one unfinished frame may take. */
const MAX_BUFFERED_CHUNKS = 64

/**
 * Lets routes of a scope be WebSockets with the option `wsHandler`. @fastify/websocket adds hooks to every route of its
 * scope, so other routes belong to another scope.
 * @param maxMessageBytes a longer message closes the client, unless its route allows more
 * @param talkers the clients that have a reason to send messages, see `superviseWebSockets`
 */
export async function registerWebSocketUpgrades(
  scope: FastifyInstance,
  upgrades: PendingUpgrades,
  maxMessageBytes: number,
  talkers: Talkers = NO_TALKERS,
): Promise<void> {
  await scope.register(websocket, {
    options: {
      // `textFrame` needs it.
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
      // `superviseWebSockets` answers pings.
      autoPong: false,
    },
    // The event log closes its sockets with a reason; all others end with the server's connections.
    preClose: (done) => done(),
  })
  const webSockets = scope.websocketServer as WebSocketServer
  webSockets.on('connection', (_socket, request) => upgrades.takeOver(request))
  const stop = superviseWebSockets(webSockets, PING_INTERVAL_MS, talkers)
  scope.addHook('onClose', async () => stop())
}
