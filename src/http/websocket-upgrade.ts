import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import type { WebSocketServer } from 'ws'
import type { PendingUpgrades } from './pending-upgrades.js'
import { superviseWebSockets } from './websocket-control.js'

const PING_INTERVAL_MS = 30_000
/** Parts of one message, each of which has a cost beside its bytes; no client has a reason to send any. */
const MAX_FRAGMENTS = 8
/** Reads of the connection that one unfinished frame may take. */
const MAX_BUFFERED_CHUNKS = 64

/**
 * Lets the routes of a scope be WebSockets, by their option `wsHandler`. @fastify/websocket adds hooks to every route
 * of its scope, so other routes belong elsewhere.
 * @param maxMessageBytes a client that sends more at once is closed
 */
export async function registerWebSocketUpgrades(
  scope: FastifyInstance,
  upgrades: PendingUpgrades,
  maxMessageBytes: number,
): Promise<void> {
  await scope.register(websocket, {
    // `superviseWebSockets` answers pings.
    options: {
      maxPayload: maxMessageBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
      autoPong: false,
    },
    // The event log closes its sockets with a reason; the rest ends with the server's connections.
    preClose: (done) => done(),
  })
  const webSockets = scope.websocketServer as WebSocketServer
  webSockets.on('connection', (_socket, request) => upgrades.takeOver(request))
  const stop = superviseWebSockets(webSockets, PING_INTERVAL_MS)
  scope.addHook('onClose', async () => stop())
}
