import type { ChosenBy } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { type Lessons, NO_OFFER_GAP, type Pair } from './lessons.js'

/** A solver that a round may ask. */
export interface Candidate {
  readonly address: Address
}

/** A solver that a round asks, and why. */
export interface Chosen<C> {
  readonly candidate: C
  readonly chosenBy: ChosenBy
}

/** One place in this many is for turns, at least one. */
const PLACES_PER_TURN = 5

/**
 * Chooses whom a round asks (docs/decisions.md, D30): everyone when there are places for all. Otherwise four places in five go to the
 * smallest median gaps of the pair. The others, and those that rank leaves empty, go to who was never asked in the pair, then by lot.
 * @param pair undefined for one that nobody has taught
 * @param lot a random number of 0 to 1
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  pair: Pair | undefined,
  places: number,
  lot: () => number,
): readonly Chosen<C>[] {
  if (candidates.length <= places)
    return candidates.map((candidate) => ({ candidate, chosenBy: 'ALL' as const }))
  const entries = candidates.map((candidate) => toEntry(candidate, pair?.of(candidate.address), lot()))
  const turns = Math.max(1, Math.round(places / PLACES_PER_TURN))
  const ranked = entries
    .filter(({ gap }) => gap < NO_OFFER_GAP)
    .sort((one, other) => one.gap - other.gap || one.lot - other.lot)
    .slice(0, places - turns)
  const isRanked = new Set(ranked)
  const others = entries
    .filter((entry) => !isRanked.has(entry))
    .sort((one, other) => one.lot - other.lot)
    .slice(0, places - ranked.length)
  return [
    ...ranked.map(({ candidate }) => ({ candidate, chosenBy: 'RANK' as const })),
    ...others.map(({ candidate }) => ({ candidate, chosenBy: 'TURN' as const })),
  ]
}

/** The lot of a solver that was never asked in the pair is below 0. */
function toEntry<C>(candidate: C, lessons: Lessons | undefined, lot: number) {
  return { candidate, gap: lessons?.medianGap ?? NO_OFFER_GAP, lot: lessons === undefined ? lot - 1 : lot }
}
