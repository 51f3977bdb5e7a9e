import { askedSession, NO_ENDPOINT, type Solver } from '../../domain/solvers/solver.js'
import type { SessionTransport, SolverReply, SolverTransport } from './solver-client.js'

interface SolverTransportsOptions {
  /** Asks a solver at its endpoint. */
  readonly http: SolverTransport
  /** Asks a solver on its session, here or at another replica. */
  readonly sessions: Pick<SessionTransport, 'requestQuote'>
}

/**
 * Builds the transport of all solvers. A solver is asked on its session when it has one, else at its endpoint
 * (docs/decisions.md, D18). Its session may end after it was selected: without an endpoint, its request then fails at once.
 */
export function createSolverTransports({ http, sessions }: SolverTransportsOptions): SolverTransport {
  return {
    requestQuote(solver, solverRequest, signal, listener) {
      if (askedSession(solver) !== undefined)
        return sessions.requestQuote(solver, solverRequest, signal, listener)
      if (solver.endpointUrl !== NO_ENDPOINT)
        return http.requestQuote(solver, solverRequest, signal, listener)
      listener?.onEnd?.()
      return Promise.resolve(SESSION_ENDED)
    },
  }
}

const SESSION_ENDED: SolverReply = {
  kind: 'failed',
  reason: 'session_ended',
  message: 'The solver has neither a session nor an endpoint.',
}

/** Builds the transport of all sessions: those that this replica holds, and those of other replicas. */
export function createSessionTransports(
  local: SessionTransport,
  remote: SessionTransport | undefined,
): SessionTransport {
  const holderOf = ({ session }: Pick<Solver, 'session'>) =>
    session === undefined && remote !== undefined ? remote : local
  return {
    requestQuote: (solver, ...rest) => holderOf(solver).requestQuote(solver, ...rest),
    reportResult: (solver, ...rest) => holderOf(solver).reportResult(solver, ...rest),
  }
}
