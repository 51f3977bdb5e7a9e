import { isBetter } from '../../packages/protocol/src/quotes/offer.js'
import type { SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SolverAttempt } from './attempt.js'

/** How many solvers a round waits for, and their results by kind. */
export interface RoundCounts extends Readonly<Record<SolverResult['kind'], number>> {
  readonly asked: number
}

/** The counts of a round that asked nobody. */
export function noCounts(): Record<keyof RoundCounts, number> {
  const unanswered = { late: 0, soft_deadline: 0, failed: 0, cancelled: 0 }
  return { asked: 0, quoted: 0, declined: 0, invalid: 0, ...unanswered }
}

/** The state of a round while results come. */
export class RoundProgress {
  readonly #onBest: (offer: SignedQuote, counts: RoundCounts) => void
  readonly #counts: Record<keyof RoundCounts, number>
  #best: SignedQuote | undefined
  #bestAt: number | undefined

  /**
   * @param asked the number of solvers that the round waits for
   * @param onBest called with each new best offer, and the counts at that moment
   */
  constructor(asked: number, onBest: (offer: SignedQuote, counts: RoundCounts) => void) {
    this.#onBest = onBest
    this.#counts = { ...noCounts(), asked }
  }

  get counts(): RoundCounts {
    return this.#counts
  }

  /** When the best offer came, on the clock of the solvers' health; undefined without an offer. */
  get bestAt(): number | undefined {
    return this.#bestAt
  }

  add({ result }: SolverAttempt, now: number): void {
    this.#counts[result.kind]++
    if (result.kind !== 'quoted') return
    if (this.#best !== undefined && !isBetter(result.offer, this.#best)) return
    this.#bestAt = now
    this.replaceBest(result.offer)
  }

  /** Counts an offer as invalid, which the settlement contract refuses. */
  drop(): void {
    this.#counts.quoted--
    this.#counts.invalid++
  }

  /** Sets the best offer, unless it is the best one already. */
  replaceBest(offer: SignedQuote): void {
    if (offer === this.#best) return
    this.#best = offer
    this.#onBest(offer, { ...this.#counts })
  }
}

/** The number of solvers whose result is known. */
export function countAnswered({ asked: _, ...byKind }: RoundCounts): number {
  return Object.values(byKind).reduce((sum, count) => sum + count, 0)
}
