import type { ConnectionEnd } from '../../../packages/cli/src/certify/certify-host.js'
import type { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { SolverSessions } from '../../rpc/streams/solver-sessions.js'
import type { SessionConnection } from '../../sessions/messages.js'

/** Sees which connections have an open session, and why the service ends connections. */
export interface SessionMonitor {
  /** @returns sessions that report to this monitor */
  observe(sessions: SolverSessions): SolverSessions
  /** All connections with an open session, the newest last. */
  open(): readonly SessionConnection[]
  /** All connections that the service has ended, in order. */
  readonly ends: readonly ConnectionEnd[]
}

/** Builds it. */
export function createSessionMonitor(): SessionMonitor {
  const connections = new Set<SessionConnection>()
  const ends: ConnectionEnd[] = []
  return {
    observe: (sessions) => ({
      ...sessions,
      accept(connection, caller) {
        const watched: SessionConnection = {
          ...connection,
          send(message) {
            connection.send(message)
            if (message.type === 'ready') connections.add(connection)
          },
          end(error) {
            ends.push(toEnd(error, connections.has(connection)))
            connection.end(error)
            connections.delete(connection)
          },
        }
        const peer = sessions.accept(watched, caller)
        return {
          ...peer,
          leave() {
            peer.leave()
            connections.delete(connection)
          },
        }
      },
    }),
    open: () => [...connections],
    ends,
  }
}

function toEnd({ reason, message, violations }: ServiceError, wasOpen: boolean): ConnectionEnd {
  const fields = violations.map((violation) => `${violation.field} ${violation.message}`)
  return { reason, wasOpen, message: [message, ...fields].join(' ') }
}
