import type { TrialAnswer, TrialRequest } from '../../../packages/cli/src/certify/certify-host.js'
import { limitTime } from '../../concurrency/time-limits.js'
import { requestBody } from '../../solvers/transport/solver-http-client.js'
import type { CallListener, SolverReply, SolverRequest } from '../../solvers/transport/solver-transports.js'

/** One of the service's ways to ask a solver. */
type Ask = (solverRequest: SolverRequest, signal: AbortSignal, listener: CallListener) => Promise<SolverReply>

/** There was no connection in time. */
const UNREACHABLE: TrialAnswer = { kind: 'failed', reason: 'unreachable', message: '' }

/** Writes a request as the service does, and sends it. @returns as `TrialTransport.requestQuote` */
export async function sendTrialRequest(
  { solver, request, id, deadline, write }: TrialRequest,
  timeoutMs: number,
  signal: AbortSignal,
  ask: Ask,
): Promise<TrialAnswer> {
  const text = requestBody(request)
  const solverRequest: SolverRequest = {
    request,
    body: Buffer.from(write?.(text) ?? text),
    quoteIds: new Map([[solver, id]]),
    deadline,
  }
  let atTimeout = UNREACHABLE
  const onSent = () => {
    atTimeout = { kind: 'late' }
  }
  const time = limitTime(timeoutMs, signal)
  const reply = await ask(solverRequest, time.signal, { onSent })
  time.end()
  return reply.kind === 'cancelled' ? atTimeout : reply
}
