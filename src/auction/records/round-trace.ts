import { responseOf, toRecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Span, Trace } from '../../telemetry/otlp-json.js'
import type { Traces } from '../../telemetry/traces.js'
import type { SolverAttempt } from '../attempt.js'
import type { EndedRound, RoundSink } from '../sinks.js'

const SAMPLED = 1

/**
 * Builds the sink that traces a share of the rounds. A caller with an API key decides by the flag of its `traceparent`; any other
 * one could fill the collector by it.
 */
export function createRoundTraces(traces: Traces, share: number): RoundSink {
  function isSampled({ key, traceparent }: EndedRound): boolean {
    if (key === undefined || traceparent === undefined) return Math.random() < share
    return (Number.parseInt(traceparent.slice(-2), 16) & SAMPLED) !== 0
  }
  return {
    onAnswer(round) {
      if (isSampled(round)) traces.add(countSpans(round), () => toTrace(round))
    },
  }
}

function countSpans({ attempts, verifyMs }: EndedRound): number {
  return attempts.length + (verifyMs === undefined ? 3 : 4)
}

/** Builds the trace of a round, without the address of its user. Attributes have the names of the record and the log. */
export function toTrace(round: EndedRound): Trace {
  const { quoteId, request, key, requestedAt, durationMs, verifyMs, outcome, attempts } = round
  const { kind, chainId, inputToken, outputToken, orderType } = request
  const swap = { chainId, inputToken, outputToken, orderType, amount: request.amount.toString() }
  const beganAt = requestedAt - round.waitedMs
  const answeredAt = requestedAt + durationMs
  const endedAt = answeredAt + (verifyMs ?? 0)
  const children: Span[] = [
    { name: 'wait for its turn', startMs: beganAt, endMs: requestedAt },
    {
      name: 'round',
      startMs: requestedAt,
      endMs: answeredAt,
      children: attempts.map((attempt, place) => toSolverSpan(attempt, place + 1, requestedAt)),
    },
  ]
  if (verifyMs !== undefined) children.push({ name: 'verification', startMs: answeredAt, endMs: endedAt })
  const root: Span = {
    name: kind === 'FIRM' ? 'quote' : 'price',
    kind: 'server',
    startMs: beganAt,
    endMs: endedAt,
    attributes: { quoteId, ...swap, key, outcome, offers: attempts.filter(isOffer).length },
    isError: outcome === 'no_quotes',
    children,
  }
  return { parent: round.traceparent, root }
}

function isOffer({ result }: SolverAttempt): boolean {
  return result.kind === 'quoted'
}

function toSolverSpan(attempt: SolverAttempt, place: number, requestedAt: number): Span {
  const { solver, quoteId, result, sentAfterMs, tookMs } = attempt
  const { outcome, reason, httpStatus, declineCode, rank } = toRecordedResult(attempt, place)
  const startMs = requestedAt + sentAfterMs
  return {
    name: 'solver',
    kind: 'client',
    startMs,
    endMs: startMs + tookMs,
    attributes: { solver, quoteId, outcome, rank, reason, httpStatus, declineCode },
    isError: result.kind === 'late' || responseOf(result) === 'error',
  }
}
