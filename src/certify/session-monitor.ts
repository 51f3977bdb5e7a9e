import type { Reason, ServiceError } from '../domain/errors.js'
import type { SolverSessions } from '../rpc/streams/solver-sessions.js'
import type { InstanceMessage, SessionConnection, SessionPeer, SolverMessage } from '../sessions/messages.js'

/** The end of a connection, or its refusal, by the service. */
export interface ConnectionEnd {
  readonly reason: Reason
  /** With the fields that were wrong. */
  readonly message: string
  /** Whether its hello had been accepted. */
  readonly wasOpen: boolean
}

/** What was seen on one connection of the solver. */
export interface SeenConnection {
  readonly connection: SessionConnection
  /** When the session was opened on it, on the clock of `performance`; undefined before. */
  readyAt: number | undefined
  pongs: number
}

/** Listens to the messages of all connections, in both directions. */
export interface SessionMonitor {
  /** @returns sessions that report to this monitor */
  observe(sessions: SolverSessions): SolverSessions
  /** All connections with an open session, the newest last. */
  open(): readonly SeenConnection[]
  /** All connections that the service has ended, in order. */
  readonly ends: readonly ConnectionEnd[]
}

/** Builds it. */
export function createSessionMonitor(): SessionMonitor {
  const connections = new Set<SeenConnection>()
  const ends: ConnectionEnd[] = []

  function watchConnection(connection: SessionConnection): [SeenConnection, SessionConnection] {
    const seen: SeenConnection = { connection, readyAt: undefined, pongs: 0 }
    const watched: SessionConnection = {
      ...connection,
      send(message: InstanceMessage) {
        connection.send(message)
        if (message.type !== 'ready') return
        seen.readyAt = performance.now()
        connections.add(seen)
      },
      end(error) {
        ends.push(toEnd(error, seen.readyAt !== undefined))
        connection.end(error)
        connections.delete(seen)
      },
    }
    return [seen, watched]
  }

  function watchPeer(peer: SessionPeer, seen: SeenConnection): SessionPeer {
    return {
      receive: (read) => peer.receive(() => notePong(read(), seen)),
      reject: peer.reject,
      leave() {
        peer.leave()
        connections.delete(seen)
      },
    }
  }

  return {
    observe: (sessions) => ({
      ...sessions,
      accept(connection, caller) {
        const [seen, watched] = watchConnection(connection)
        return watchPeer(sessions.accept(watched, caller), seen)
      },
    }),
    open: () => [...connections],
    ends,
  }
}

function notePong(message: SolverMessage, seen: SeenConnection): SolverMessage {
  if (message.type === 'pong') seen.pongs++
  return message
}

function toEnd({ reason, message, violations }: ServiceError, wasOpen: boolean): ConnectionEnd {
  const fields = violations.map((violation) => `${violation.field} ${violation.message}`)
  return { reason, wasOpen, message: [message, ...fields].join(' ') }
}
