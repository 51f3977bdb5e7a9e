import type { Address } from '../../packages/protocol/src/values/hex.js'
import { NO_OFFER_GAP, type Pairs, type Teacher } from './lessons.js'
import { observe, type Standing } from './standing.js'

/** What came of the request to one solver, when its round has read on to the end. */
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

/** An offer that is better by less was not worth the wait. In basis points. */
const LEAST_GAIN = 1

/** Counts whom a round has waited for beyond the soft deadline, and whether that was worth it. */
export function learnWaits(answers: readonly ReadAnswer[], now: number): void {
  for (const { standing, wasWaitedFor, isInTime, gain } of answers)
    if (wasWaitedFor) observe(standing, { kind: 'waited', wasWorth: isInTime && gain >= LEAST_GAIN }, now)
}

/**
 * Gives each solver of a round its lesson, if the round's client may teach the pair now (docs/decisions.md, D30). An offer after the
 * answer, of a solver that the round had waited for, is no offer.
 * @param answers of a firm round that was answered with an offer
 */
export function learn(
  pairs: Pairs,
  key: string,
  client: Teacher,
  answers: readonly ReadAnswer[],
  now: number,
): void {
  const taught = pairs.teach(key, client, now)
  const pair = taught ?? pairs.of(key)
  if (pair === undefined) return
  for (const { solver, outcome, isInTime, gap, gain, wasWaitedFor } of answers) {
    const lessons = pair.open(solver)
    if (outcome === 'offer') lessons.recordQuote(now)
    if (taught === undefined || outcome === 'unknown') continue
    const isOffer = outcome === 'offer' && (isInTime || !wasWaitedFor)
    lessons.add({
      gap: isOffer ? Math.min(NO_OFFER_GAP, Math.max(0, gap)) : NO_OFFER_GAP,
      isWorth: isOffer && gain >= LEAST_GAIN,
    })
  }
}
