/** The gap of a solver without a valid offer: it has no rank. In basis points. */
export const NO_OFFER_GAP = 10_000
/** The offers of a solver that are remembered. */
const KEPT_LESSONS = 9
/** A solver is reliable for this time after its last valid offer. */
const RELIABLE_MS = 60_000
/** So many requests without an offer are no gaps. A stranger's twenty addresses, each of which teaches a pair once in 10 minutes, make fewer. */
const MOST_PRESENCE = 25
/** As often as those addresses may teach that a request brought no offer. */
const PRESENCE_MS = 30_000
/** A solver is expected to quote what it has quoted within this time (docs/decisions.md, D14). */
const EXPECTED_MS = 24 * 3_600_000
/** An offer that is better by less was not worth the wait. In basis points. */
const LEAST_GAIN = 1
/** An answer that was worth the wait counts as much as this many that were not. */
const WORTH = 4
/** From here, 16 answers that were not worth it end the wait, before `MAX_VAIN_WAITS` bars the solver. Two that are bring it back. */
const MOST_WORTH = 20
/** For each basis point that a caller lost, one round may wait for the solver in vain, up to this many. */
const MOST_OWED_WAITS = 1000
/** Waits in vain in a row, after which only rounds that are worse than usual wait for the solver, in that many lessons. */
const MAX_VAIN_WAITS = 20
const UNWAITED_LESSONS = 200

/** What came of the request to one solver, in a round that was answered with an offer. */
export interface Lesson {
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

/** What rounds have taught of one solver (docs/decisions.md, D30). Times are milliseconds on a clock that never goes back. */
export class Lessons {
  /** How far its last offers were from the best ones of their rounds, in basis points, 0 to 10,000. */
  readonly #gaps: number[] = []
  /** Whether its last offers came within the soft deadline. Declines do not count: strangers choose when it declines. */
  readonly #areQuick: boolean[] = []
  #gap: number | undefined
  /** Above `WORTH` when it is worth waiting for: at least two answers were worth it. */
  #worth = 0
  /** In a row. Below 0, for as many lessons it is barred. */
  #vainWaits = 0
  #owedWaits = 0
  #quotedAt = Number.NEGATIVE_INFINITY
  /** An offer adds 1, once in `PRESENCE_MS`. A request without one takes 1 away. It begins at the most: a stranger's lessons may come first. */
  #presence = MOST_PRESENCE
  #presentAt = Number.NEGATIVE_INFINITY

  /** The median of its last gaps; undefined without one. */
  get gap(): number | undefined {
    return this.#gap
  }

  /** It tells apart solvers of the same median: where a round asks only junk, junk has no gap. */
  get gapSum(): number {
    return this.#gaps.reduce((sum, gap) => sum + gap, 0)
  }

  get isWorthWaiting(): boolean {
    return this.#worth > WORTH
  }

  /** Whether too many waits for it were in vain. */
  get isBarred(): boolean {
    return this.#vainWaits < 0
  }

  /** Whether rounds wait for it while their best offer is worse than usual: one that did not wait has lost by that. */
  get isOwed(): boolean {
    return this.#owedWaits > 0
  }

  /** Whether most of its last offers came within the soft deadline. */
  get isQuick(): boolean {
    return this.#areQuick.filter(Boolean).length > this.#areQuick.length / 2
  }

  /**
   * Whether rounds ask the solver, whatever its requests in other pairs came to, and requests without an offer are no gaps: strangers can
   * make requests that a solver declines or leaves unanswered.
   */
  isReliable(now: number): boolean {
    return this.#presence > 0 && now - this.#quotedAt <= RELIABLE_MS
  }

  /** Whether the solver has made a valid offer within a day. */
  hasQuoted(now: number): boolean {
    return now - this.#quotedAt <= EXPECTED_MS
  }

  /**
   * Records what counts in every round: that it made an offer, and what its caller lost because the round did not wait for it.
   * Offers after the answer are free. So a loss is only as large as the answer was worse than usual.
   * @param drop by how many basis points the round's answer was worse than usual
   */
  hear(lesson: Lesson, drop: number, now: number): void {
    if (lesson.outcome !== 'offer') return
    this.#quotedAt = now
    if (now - this.#presentAt >= PRESENCE_MS) {
      this.#presentAt = now
      this.#presence = Math.min(MOST_PRESENCE, this.#presence + 1)
    }
    if (lesson.isInTime || !wasWorth(lesson)) return
    const loss = Math.min(drop, lesson.gain, MOST_OWED_WAITS)
    this.#owedWaits = Math.max(this.#owedWaits, loss)
  }

  /**
   * Records all. An offer after the answer is none when the round had waited for it. A decline within the soft deadline says nothing of
   * waiting.
   */
  learn(lesson: Lesson, drop: number, now: number): void {
    const { outcome, isInTime, isQuick, wasWaitedFor } = lesson
    if (this.#vainWaits < 0) this.#vainWaits++
    if (outcome === 'unknown') return
    const isOffer = outcome === 'offer'
    if (isOffer) {
      keep(this.#areQuick, isQuick)
      this.#addGap(isInTime || !wasWaitedFor ? Math.max(0, lesson.gap) : NO_OFFER_GAP)
    } else {
      this.#presence = Math.max(0, this.#presence - 1)
      if (!this.isReliable(now)) this.#addGap(NO_OFFER_GAP)
    }
    this.hear(lesson, drop, now)
    if (isOffer || !isQuick) this.#addWorth(wasWorth(lesson), wasWaitedFor)
  }

  #addGap(gap: number): void {
    keep(this.#gaps, Math.min(NO_OFFER_GAP, gap))
    this.#gap = medianOf(this.#gaps)
  }

  #addWorth(isWorth: boolean, wasWaitedFor: boolean): void {
    this.#worth = isWorth ? Math.min(MOST_WORTH, this.#worth + WORTH) : Math.max(0, this.#worth - 1)
    if (!wasWaitedFor) return
    if (this.#vainWaits >= 0) this.#vainWaits = isWorth ? 0 : this.#vainWaits + 1
    if (this.#vainWaits === MAX_VAIN_WAITS) this.#vainWaits = -UNWAITED_LESSONS
    if (!isWorth) this.#owedWaits = Math.max(0, this.#owedWaits - 1)
  }
}

/** Whether a solver was worth waiting for. The offer of one that the round waited for must have come before its answer. */
function wasWorth({ gain, isInTime, wasWaitedFor }: Lesson): boolean {
  return gain >= LEAST_GAIN && (isInTime || !wasWaitedFor)
}

function keep<T>(last: T[], value: T): void {
  last.push(value)
  if (last.length > KEPT_LESSONS) last.shift()
}

/** The lower one of the two in the middle when their number is even; undefined without a value. */
export function medianOf(values: readonly number[]): number | undefined {
  return [...values].sort((one, other) => one - other)[(values.length - 1) >> 1]
}
