import type { Address } from '../../packages/protocol/src/values/hex.js'
import { Lessons, medianOf } from './lessons.js'

/** The answers whose rates are kept. In a pair, less than half of them are those of a stranger's twenty addresses. */
const KEPT_RATES = 49

/** What rounds have taught of the solvers that they asked, and of the rates that they answered (docs/decisions.md, D30). */
export class Scorecard {
  readonly #lessons = new Map<Address, Lessons>()
  /** Output by input of its last answers, the oldest first. */
  readonly #rates: number[] = []
  /** Their median; 0 without one. */
  usualRate = 0
  /** When the last answer was recorded. */
  answeredAt = Number.NEGATIVE_INFINITY

  addRate(rate: number, now: number): void {
    this.answeredAt = now
    this.#rates.push(rate)
    if (this.#rates.length > KEPT_RATES) this.#rates.shift()
    this.usualRate = medianOf(this.#rates) ?? 0
  }

  /** Undefined for a solver that no round has asked. */
  of(solver: Address): Lessons | undefined {
    return this.#lessons.get(solver)
  }

  /** The lessons of a solver that was asked. */
  open(solver: Address): Lessons {
    const lessons = this.#lessons.get(solver) ?? new Lessons()
    this.#lessons.set(solver, lessons)
    return lessons
  }

  /** Whether any solver has made a valid offer within a day. */
  wasQuoted(now: number): boolean {
    return [...this.#lessons.values()].some((lessons) => lessons.hasQuoted(now))
  }
}

/** What a round knows when it begins: the scorecard of its pair, and that of its client in the pair. */
export interface Scorecards {
  readonly pair: Scorecard | undefined
  readonly client: Scorecard | undefined
  /**
   * Whether the round may teach the pair. It ranks by the pair's scorecard then: else who wins the rounds of its own callers would be taught as
   * better than those who are not asked.
   */
  readonly mayTeach: boolean
}

/** Output by input as the client usually gets it: in the pair, or in its own rounds where that is better. 0 when nothing is known. */
export function usualRate({ pair, client }: Scorecards): number {
  return Math.max(pair?.usualRate ?? 0, client?.usualRate ?? 0)
}
