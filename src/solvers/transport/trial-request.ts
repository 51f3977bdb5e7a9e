import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { toRequestBody } from '../../../packages/protocol/src/signing/quote-request.js'
import type { SolverCall, SolverReply, SolverRequest } from './solver-transports.js'

/** A request to one solver outside of a round. */
interface TrialRequest {
  readonly request: QuoteRequest
  /** The solver's id of the quote; undefined for a request without one. */
  readonly id?: string
  /** The deadline that the solver gets, Unix time in milliseconds. */
  readonly deadline: number
  /** Changes the JSON text of the request. */
  readonly write?: ((body: string) => string) | undefined
}

/** What came of it: JSON that is not validated yet, or a result without an offer. */
type TrialAnswer = Exclude<SolverReply, { kind: 'cancelled' }> | { readonly kind: 'late' }

/** One of the service's ways to ask a solver. */
type Ask = (
  solverRequest: SolverRequest,
  signal: AbortSignal,
  call: Partial<SolverCall>,
) => Promise<SolverReply>

/** There was no connection in time. */
const UNREACHABLE: TrialAnswer = { kind: 'failed', reason: 'unreachable', message: '' }

/**
 * Writes a request as a round does, and sends it to one solver. The promise is never rejected.
 * @param signal its time-out
 * @returns `late` when the request was sent and no reply came in time
 */
export async function sendTrialRequest(
  { request, id, deadline, write }: TrialRequest,
  signal: AbortSignal,
  ask: Ask,
): Promise<TrialAnswer> {
  const text = JSON.stringify(toRequestBody(request))
  const solverRequest: SolverRequest = { request, body: Buffer.from(write?.(text) ?? text), deadline }
  let atTimeout = UNREACHABLE
  const onSent = () => {
    atTimeout = { kind: 'late' }
  }
  const reply = await ask(solverRequest, signal, { ...(id && { quoteId: id }), onSent })
  return reply.kind === 'cancelled' ? atTimeout : reply
}
