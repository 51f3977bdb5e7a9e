import type { Address } from '../../packages/protocol/src/values/hex.js'
import { NO_OFFER_GAP, type Pair, type Pairs, type Teacher } from './lessons.js'
import { observe, type Standing } from './standing.js'

/** What came of the request to one solver, in a round that was answered with an offer. */
export interface ReadAnswer {
  readonly solver: Address
  readonly standing: Standing
  /** `none`: no valid offer, for a reason of its own. `unknown`: for a reason that says nothing about it. */
  readonly outcome: 'offer' | 'none' | 'unknown'
  /** Whether it came before the round's answer. */
  readonly isInTime: boolean
  /** For an offer, how much worse it was than the best one before the answer, in basis points; below 0 for a better one. */
  readonly gap: number
  /** For an offer after the soft deadline, how much better it was than all before it, in basis points. Otherwise 0. */
  readonly gain: number
  /** Whether the round waited for it beyond the soft deadline, after it had enough offers. */
  readonly wasWaitedFor: boolean
}

/** The pair of a round, and whether the round teaches it. */
export interface TaughtPair {
  readonly pair: Pair
  readonly isTaught: boolean
}

/** An offer that is better by less was not worth the wait. In basis points. */
const LEAST_GAIN = 1

/** Opens the pair of a firm round that is answered with an offer; undefined for a pair that its client may not begin now. */
export function openPair(pairs: Pairs, key: string, client: Teacher, now: number): TaughtPair | undefined {
  const taught = pairs.teach(key, client, now)
  const pair = taught ?? pairs.of(key)
  return pair && { pair, isTaught: taught !== undefined }
}

/** Counts a wait beyond the soft deadline, and whether it was worth it. */
export function learnWait({ standing, wasWaitedFor, isInTime, gain }: ReadAnswer, now: number): void {
  if (wasWaitedFor) observe(standing, { kind: 'waited', wasWorth: isInTime && gain >= LEAST_GAIN }, now)
}

/**
 * Gives a solver its lesson, if the round teaches the pair (docs/decisions.md, D30). An offer after the answer, of a solver that the
 * round had waited for, is no offer.
 */
export function learn({ pair, isTaught }: TaughtPair, answer: ReadAnswer, now: number): void {
  const { outcome, isInTime, gap, gain, wasWaitedFor } = answer
  const lessons = pair.open(answer.solver)
  if (outcome === 'offer') lessons.recordQuote(now)
  if (!isTaught || outcome === 'unknown') return
  const isOffer = outcome === 'offer' && (isInTime || !wasWaitedFor)
  lessons.add({
    gap: isOffer ? Math.min(NO_OFFER_GAP, Math.max(0, gap)) : NO_OFFER_GAP,
    isWorth: isOffer && gain >= LEAST_GAIN,
  })
}
