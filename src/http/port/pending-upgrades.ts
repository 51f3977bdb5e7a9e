import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/** Requests for an upgrade that are not WebSockets yet. */
export interface PendingUpgrades {
  /** Leaves the connection of a request to its WebSocket. */
  takeOver(request: IncomingMessage): void
}

/**
 * Destroys the connection of each rejected upgrade: when its response is sent, when the client ends it, or after
 * `timeoutMs`. Node no longer serves such a connection, so it would stay open. @fastify/websocket does the same, but only
 * for requests that reach the hooks of its own scope.
 * @param server the root scope, before it has other hooks
 */
export function superviseUpgrades(server: FastifyInstance, timeoutMs: number): PendingUpgrades {
  const releases = new WeakMap<IncomingMessage, () => void>()

  server.server.prependListener('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const destroy = () => void socket.destroy()
    const timer = setTimeout(destroy, timeoutMs)
    const release = () => {
      clearTimeout(timer)
      socket.off('end', destroy).off('close', release)
      releases.delete(request)
    }
    socket.on('end', destroy).on('close', release)
    releases.set(request, release)
  })
  server.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (releases.has(raw)) reply.raw.once('finish', () => raw.socket.destroy())
    done()
  })
  return { takeOver: (request) => releases.get(request)?.() }
}
