import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import {
  askedSession,
  type Solver,
  type SolverConnections,
  type SolverKey,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { SessionResult, SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { CallSignal } from '../../clients/call.js'

/** What came of a call: JSON that is not validated yet, or a result without an offer. */
export type SolverReply =
  | { readonly kind: 'replied'; readonly body: unknown }
  | Exclude<SolverResult, { kind: 'quoted' | 'late' | 'soft_deadline' | 'circuit_open' }>

/** The request to all solvers of a quote. */
export interface SolverRequest {
  /** What solvers are asked. The kind INDICATIVE is in `x-quote-kind`. */
  readonly request: QuoteRequest
  /** The same as JSON text in UTF-8. */
  readonly body: Uint8Array
  /** When the service stops waiting, Unix time in milliseconds, in `x-request-deadline`. */
  readonly deadline: number
}

/** The call of one solver, and what listens to its connection. */
export interface SolverCall {
  /** The solver's id of the quote, in `x-quote-id` (docs/decisions.md, D15). */
  readonly quoteId: string
  /** Called once, when the request is first written to a connection; not called when there is none in time. */
  onSent?(): void
  /** Called once, when the connection is free or closed. After a declined request, this is later than the reply. */
  onEnd?(): void
}

/** One way to ask solvers: at their endpoints, or on their sessions. */
export interface SolverTransport<Asked = Solver> {
  /**
   * Asks a solver for a quote. The promise is never rejected.
   * @param signal ends the call, and drops what is left of its reply. A call that it ends resolves with `cancelled`
   */
  requestQuote(
    solver: Asked,
    solverRequest: SolverRequest,
    signal: CallSignal,
    call: SolverCall,
  ): Promise<SolverReply>
}

/**
 * Asks solvers on their sessions, and reports what came of it. A solver without a session has the result `session_ended`.
 */
export interface SessionTransport extends SolverTransport<SolverKey & SolverConnections> {
  /**
   * Reports the result of a request to its solver, after the round (docs/decisions.md, D15). Does nothing when the session
   * has ended.
   * @param solver as it was asked
   * @param id the solver's id of the quote
   */
  reportResult(solver: SolverConnections, id: string, result: SessionResult): void
}

/** Builds the transport of all sessions: those that this replica holds, and those of other replicas. */
export function createSessionTransport(
  local: SessionTransport,
  remote: SessionTransport | undefined,
): SessionTransport {
  const holderOf = (solver: SolverConnections) => {
    const isElsewhere = solver.session === undefined && askedSession(solver) !== undefined
    return isElsewhere && remote !== undefined ? remote : local
  }
  return {
    requestQuote: (solver, ...rest) => holderOf(solver).requestQuote(solver, ...rest),
    reportResult: (solver, ...rest) => holderOf(solver).reportResult(solver, ...rest),
  }
}
