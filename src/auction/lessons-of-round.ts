import { gapBps } from '../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { FailReason, SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { ClientId } from '../clients/client-id.js'
import { isGain, learn, openPair, pairOf, type ReadAnswer, type TaughtPair } from '../standing/lessons.js'
import type { Fact, Standings } from '../standing/standing.js'
import { answeredInMs } from './attempt.js'
import type { EndedAttempt, Round } from './round.js'

/** No connection could be made. One that breaks costs no time, and a request of a caller can cause it. */
const NOT_CONNECTED: readonly FailReason[] = [
  'endpoint_rejected',
  'name_not_resolved',
  'connection_refused',
  'unreachable',
  'tls_failed',
]

/** Learns from a request that has ended, when its round has been answered. */
export type LearnRequest = (ended: EndedAttempt, round: Round) => void

/**
 * Builds the function for one round (docs/decisions.md, D30). A round without an offer says nothing about its solvers, nor does one
 * whose caller has left. A price teaches no lesson.
 */
export function createLearnRequest(
  { kind, ...request }: QuoteRequest,
  client: ClientId,
  standings: Standings,
  clock: () => number,
): LearnRequest {
  let taught: TaughtPair | undefined
  let isOpen = false

  return (ended, round) => {
    if (round.best === undefined || round.hasLeft) return
    const now = clock()
    const { solver } = ended.attempt.asked
    const fact = timeFactOf(ended, client.network)
    if (fact !== undefined) standings.observe(solver, fact)
    const answer = toReadAnswer(ended, round)
    if (answer.wasWaitedFor)
      standings.observe(solver, { kind: 'waited', wasWorth: answer.isInTime && isGain(answer.gain) })
    if (kind === 'INDICATIVE') return
    if (!isOpen) taught = openPair(standings.pairsOf(request.chainId), pairOf(request), client, now)
    isOpen = true
    if (taught !== undefined) learn(taught, answer, now)
  }
}

/** What a request says of the time of callers; undefined when it says nothing. */
export function timeFactOf({ attempt, settled }: EndedAttempt, client: string): Fact | undefined {
  if (!attempt.isExpected) return undefined
  if (hasLostTime(settled.result)) return { kind: 'time_lost', client }
  return answeredInMs(settled) === undefined ? undefined : { kind: 'in_time', client }
}

function hasLostTime(result: SolverResult): boolean {
  return result.kind === 'late' || (result.kind === 'failed' && NOT_CONNECTED.includes(result.reason))
}

function toReadAnswer({ attempt, settled, atMs, isInTime, gain }: EndedAttempt, round: Round): ReadAnswer {
  const { asked } = attempt
  const { result } = settled
  const { softMs } = round.times
  const isLate = atMs > softMs
  const offer = result.kind === 'quoted' ? result.offer : undefined
  return {
    solver: asked.solver.address,
    outcome: offer !== undefined ? 'offer' : result.kind === 'cancelled' ? 'unknown' : 'none',
    isInTime,
    gap: offer === undefined || round.best === undefined ? 0 : gapBps(offer.quote, round.best.quote),
    gain: isLate ? gain : 0,
    wasWaitedFor: asked.wait === 'beyond' && isLate && round.hasWaitedUntil(atMs),
  }
}
