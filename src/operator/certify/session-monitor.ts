import type { ConnectionEnd } from '../../../packages/cli/src/certify/certify-host.js'
import type { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { SolverSessions } from '../../rpc/streams/solver-sessions.js'
import type { SessionConnection } from '../../sessions/messages.js'

/** Sees which connections have an open session, and why the service ends connections. */
export function createSessionMonitor() {
  const connections = new Set<SessionConnection>()
  const ends: ConnectionEnd[] = []
  return {
    /** @returns sessions that report to this monitor */
    observe: (sessions: SolverSessions): SolverSessions => ({
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
    /** The newest connection with an open session. */
    newest: () => [...connections].at(-1),
    /** All connections that the service has ended, in order. */
    ends,
  }
}

function toEnd({ reason, message, violations }: ServiceError, wasOpen: boolean): ConnectionEnd {
  const fields = violations.map((violation) => `${violation.field} ${violation.message}`)
  return { reason, wasOpen, message: [message, ...fields].join(' ') }
}
