import { gapBps, rateOf } from '../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { FailReason } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ClientId } from '../clients/client-id.js'
import { NO_OFFER_GAP } from '../standing/lessons.js'
import type { ClientAnswers, OpenPair } from '../standing/pair.js'
import type { Standings } from '../standing/standing.js'
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

/**
 * The tokens, the order type and the number of decimal digits of the fixed amount, as a key. The other terms for which a solver may decline
 * make pairs of their own: what it says to strange requests must not count against it in usual ones. Where offers may be
 * earlier, those that are have better prices, and who makes none must not lose its rank elsewhere.
 * @param depositWindow in seconds; undefined for the instance's own
 */
export function pairOf(request: QuoteRequest, depositWindow: number | undefined): string {
  const { inputToken, outputToken, orderType, amount, depositMode, destinationChainId } = request
  const { depositDeadline, minDepositDeadline = depositDeadline } = request
  const { length } = amount.toString()
  const windows = `${depositWindow} ${depositDeadline - minDepositDeadline}`
  return `${inputToken}${outputToken}${orderType} ${length} ${depositMode} ${destinationChainId} ${windows}`
}

/**
 * Builds the function that learns from each request of a round that has ended, once the round has been answered (docs/decisions.md,
 * D30). A round without an offer says nothing about its solvers, nor does one whose caller has left: an answer only closes an open circuit
 * breaker. Prices teach no lesson. A request to a solver that the round never waits for teaches one when it brings an offer.
 * @param rankedBy the client's own answers, by which the round has ranked the solvers; undefined when it has ranked by the pair
 */
export function createLearnRequest(
  { kind, chainId }: QuoteRequest,
  pair: string,
  client: ClientId,
  rankedBy: ClientAnswers | undefined,
  standings: Standings,
  clock: () => number,
): (ended: EndedAttempt, round: Round) => void {
  let open: OpenPair | undefined

  return (ended, round) => {
    const { solver, standing, wait } = ended.attempt.asked
    const { best } = round
    const teaches = best !== undefined && !round.hasLeft
    if (!teaches && standing.isCircuitClosed) return
    const now = clock()
    const isLost = hasLostTime(ended)
    if (isLost !== undefined) standings.recordAnswer(solver, client.network, isLost)
    if (!teaches || kind === 'INDICATIVE') return
    if (wait === 'never' && ended.settled.result.kind !== 'quoted') return
    open ??= standings.pairsOf(chainId).open(pair, client, rateOf(best), rankedBy, now)
    learn(open, toReadAnswer(ended, round), round.drop, now)
  }
}

/**
 * Whether a request has cost its caller time; undefined when it says nothing. A solver that has answered others meanwhile is there: callers
 * that ask more than it can answer must not take it from everyone.
 */
function hasLostTime({ attempt, settled }: EndedAttempt): boolean | undefined {
  const { result } = settled
  const { isExpected, asked, waitingSince = Number.NEGATIVE_INFINITY } = attempt
  if (!isExpected && asked.standing.isCircuitClosed) return undefined
  if (result.kind === 'late' || (result.kind === 'failed' && NOT_CONNECTED.includes(result.reason)))
    return asked.standing.answeredAt > waitingSince ? undefined : true
  return answeredInMs(settled) === undefined ? undefined : false
}

function toReadAnswer({ attempt, settled, atMs, isInTime, gain }: EndedAttempt, round: Round): ReadAnswer {
  const { asked } = attempt
  const { result } = settled
  const { softMs, limitMs, readMs } = round.times
  const isLate = atMs > softMs
  // A solver that was told a shorter deadline than the instance's own may give up when it is over.
  const wasCutShort = limitMs < readMs && atMs >= limitMs
  const offer = result.kind === 'quoted' ? result.offer : undefined
  const isUnknown = result.kind === 'cancelled' || wasCutShort
  return {
    solver: asked.solver.address,
    outcome: offer !== undefined ? 'offer' : isUnknown ? 'unknown' : 'none',
    isInTime,
    isQuick: !isLate,
    gap: offer === undefined || round.best === undefined ? 0 : gapBps(offer.quote, round.best.quote),
    gain: isLate ? gain : 0,
    wasWaitedFor: isLate && !wasCutShort && round.hasWaitedFor(asked, atMs),
  }
}

/** What came of the request to one solver, in a round that was answered with an offer. */
export interface ReadAnswer {
  readonly solver: Address
  /** `none`: no valid offer, for a reason of its own. `unknown`: no valid offer, for a reason that says nothing about it. */
  readonly outcome: 'offer' | 'none' | 'unknown'
  /** Whether it came before the round's answer. */
  readonly isInTime: boolean
  /** Whether it came within the soft deadline, before or after the answer. */
  readonly isQuick: boolean
  /** For an offer, how much worse it was than the best one before the answer, in basis points; below 0 for a better one. */
  readonly gap: number
  /** For an offer after the soft deadline, how much better it was than all before it, in basis points. Otherwise 0. */
  readonly gain: number
  /** Whether the round waited for it beyond the soft deadline, after it had enough offers. */
  readonly wasWaitedFor: boolean
}

/** An offer that is better by less was not worth the wait. In basis points. */
const LEAST_GAIN = 1

/** Whether a solver was worth waiting for. The offer of one that the round waited for must have come before its answer. */
function wasWorth({ gain, isInTime, wasWaitedFor }: ReadAnswer): boolean {
  return gain >= LEAST_GAIN && (isInTime || !wasWaitedFor)
}

/**
 * Gives a solver its lesson: of the client, and of the pair if the round teaches it (docs/decisions.md, D30). An offer after the answer is
 * none when the round had waited for it. A decline within the soft deadline says nothing of waiting. Offers after the answer are free. So
 * as a caller's loss they count only as far as the answer was worse than usual, in each round.
 * @param drop by how many basis points the round's answer was worse than usual
 */
export function learn(
  { pair, own, isTaught }: OpenPair,
  answer: ReadAnswer,
  drop: number,
  now: number,
): void {
  const { outcome, isInTime, isQuick, wasWaitedFor } = answer
  const lessons = pair.open(answer.solver)
  lessons.recordRound()
  if (outcome === 'offer') lessons.recordOffer(isQuick, isTaught, now)
  if (!isInTime && wasWorth(answer)) lessons.recordLoss(Math.min(drop, answer.gain))
  if (outcome === 'unknown') return
  const isOffer = outcome === 'offer' && (isInTime || !wasWaitedFor)
  const gap = isOffer ? Math.min(NO_OFFER_GAP, Math.max(0, answer.gap)) : NO_OFFER_GAP
  if (isInTime || wasWaitedFor || outcome !== 'offer') own.addGap(answer.solver, gap)
  if (!isTaught) return
  if (outcome === 'offer') lessons.gaps.add(gap)
  else lessons.recordMiss()
  if (outcome === 'offer' || !isQuick) lessons.addWorth(wasWorth(answer), wasWaitedFor)
}
