import { gapBps, rateOf } from '../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { FailReason } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ClientId } from '../clients/client-id.js'
import type { Lesson } from '../standing/lessons.js'
import type { OpenScorecards } from '../standing/pair.js'
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
 * @param mayTeach whether the round might teach the pair when it began
 */
export function createLearnRequest(
  { kind, chainId }: QuoteRequest,
  pair: string,
  client: ClientId,
  mayTeach: boolean,
  standings: Standings,
  clock: () => number,
): (ended: EndedAttempt, round: Round) => void {
  let open: OpenScorecards | undefined

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
    open ??= standings.pairsOf(chainId).recordRate(pair, client, rateOf(best), mayTeach, now)
    learn(open, solver.address, lessonOf(ended, round), round.drop, now)
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

function lessonOf({ attempt, settled, atMs, isInTime, gain }: EndedAttempt, round: Round): Lesson {
  const { asked } = attempt
  const { result } = settled
  const { softMs, limitMs, readMs } = round.times
  const isLate = atMs > softMs
  // A solver that was told a shorter deadline than the instance's own may give up when it is over.
  const wasCutShort = limitMs < readMs && atMs >= limitMs
  const offer = result.kind === 'quoted' ? result.offer : undefined
  const isUnknown = result.kind === 'cancelled' || wasCutShort
  return {
    outcome: offer !== undefined ? 'offer' : isUnknown ? 'unknown' : 'none',
    isInTime,
    isQuick: !isLate,
    gap: offer === undefined || round.best === undefined ? 0 : gapBps(offer.quote, round.best.quote),
    gain: isLate ? gain : 0,
    wasWaitedFor: isLate && !wasCutShort && round.hasWaitedFor(asked, atMs),
  }
}

/**
 * Gives a solver its lesson: in the scorecard of the client, and in that of the pair if the round teaches it (docs/decisions.md, D30).
 * @param drop by how many basis points the round's answer was worse than usual
 */
export function learn(
  { pair, client, isTaught }: OpenScorecards,
  solver: Address,
  lesson: Lesson,
  drop: number,
  now: number,
): void {
  client.open(solver).learn(lesson, drop, now)
  if (isTaught) pair.open(solver).learn(lesson, drop, now)
  else pair.open(solver).hear(lesson, drop, now)
}
