import { NO_ENDPOINT } from '../domain/solver.js'
import type { SolverReply, SolverTransport } from './solver-client.js'

interface SolverTransportsOptions {
  /** Asks a solver at its endpoint. */
  readonly http: SolverTransport
  /** Asks a solver on its session; undefined when this instance accepts no sessions. */
  readonly sessions: SolverTransport | undefined
}

/**
 * Builds the transport of all solvers. A solver is asked on its session when this replica holds it, else at its endpoint
 * (docs/decisions.md, D18). Its session may end after it was selected: without an endpoint, its request then fails at once.
 */
export function createSolverTransports({ http, sessions }: SolverTransportsOptions): SolverTransport {
  return {
    requestQuote(solver, solverRequest, signal, listener) {
      if (solver.session !== undefined && sessions !== undefined)
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
