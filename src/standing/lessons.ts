/** The gap of a solver without a valid offer: it has no rank. In basis points. */
export const NO_OFFER_GAP = 10_000
/** The lessons of a solver that are kept in a pair. */
const KEPT_LESSONS = 9
/** Evidence is a count from 0 to this. A stranger's twenty addresses, each of which teaches a pair once in 10 minutes, cannot end it. */
const MOST_EVIDENCE = 25
/** An answer that was worth the wait counts as much as this many that were not. */
const WORTH = 4
/** From here, 16 answers that were not worth it end the wait, before `MAX_VAIN_WAITS` bars the solver. Two that are bring it back. */
const MOST_WORTH = 20
/** For each basis point that a caller lost, one round may wait for the solver in vain, up to this many. */
const MOST_LOSS = 1000
/** Waits in vain in a row, after which only rounds that are worse than usual wait for a solver in the pair, in that many rounds. */
const MAX_VAIN_WAITS = 20
const UNWAITED_ROUNDS = 200
/** A solver is reliable for this time after its last valid offer in the pair. */
const RELIABLE_MS = 60_000
/** As often as a stranger's twenty addresses may teach that a request brought no offer. */
const PROOF_MS = 30_000
/** A solver is expected to quote what it has quoted within this time (docs/decisions.md, D14). */
const EXPECTED_MS = 24 * 3_600_000

/** How far the last offers of one solver were from the best ones of their rounds, in basis points, 0 to 10,000. */
export class Gaps {
  readonly #gaps: number[] = []
  #median: number | undefined

  /** Undefined without a gap. */
  get median(): number | undefined {
    return this.#median
  }

  /** It tells apart solvers of the same median: where a round asks only junk, junk has no gap. */
  get sum(): number {
    return this.#gaps.reduce((sum, gap) => sum + gap, 0)
  }

  add(gap: number): void {
    this.#gaps.push(gap)
    if (this.#gaps.length > KEPT_LESSONS) this.#gaps.shift()
    this.#median = medianOf(this.#gaps)
  }
}

/** The last lessons of one solver in one pair. */
export class Lessons {
  readonly gaps = new Gaps()
  /** Above `WORTH` when it is worth waiting for: at least two answers were worth it. */
  #worth = 0
  /** In a row. Below 0, in as many rounds nobody waits for it. */
  #vainWaits = 0
  /** How many rounds that are worse than usual may still wait for it in vain. */
  #owedWaits = 0
  /** Above 0 when of its last offers, more came within the soft deadline than later. */
  #quickness = 0
  /**
   * An offer adds 1, a request without one takes 1 away. Above 0, such a request is no gap, and the breaker does not count: strangers can
   * make requests that a solver declines or leaves unanswered. It begins at the most: after a start, a stranger's lessons come first.
   */
  #presence = MOST_EVIDENCE
  #provedAt = Number.NEGATIVE_INFINITY
  #quotedAt = Number.NEGATIVE_INFINITY

  get isWorthWaiting(): boolean {
    return this.#worth > WORTH && this.#vainWaits >= 0
  }

  /** Whether rounds wait for it while their best offer is worse than usual: one that did not wait has lost by that. */
  get isOwed(): boolean {
    return this.#owedWaits > 0
  }

  /** Whether most of its last offers came within the soft deadline. Declines do not count: strangers choose when it declines. */
  get isQuick(): boolean {
    return this.#quickness > 0
  }

  /** Records that a round which asked the solver in the pair was answered. */
  recordRound(): void {
    if (this.#vainWaits < 0) this.#vainWaits++
  }

  /** @param isWorth whether the answer came after the soft deadline, at least 1 basis point better than all before it */
  addWorth(isWorth: boolean, wasWaitedFor: boolean): void {
    this.#worth = isWorth ? Math.min(MOST_WORTH, this.#worth + WORTH) : Math.max(0, this.#worth - 1)
    if (!wasWaitedFor) return
    if (this.#vainWaits >= 0) this.#vainWaits = isWorth ? 0 : this.#vainWaits + 1
    if (this.#vainWaits === MAX_VAIN_WAITS) this.#vainWaits = -UNWAITED_ROUNDS
    if (!isWorth) this.#owedWaits = Math.max(0, this.#owedWaits - 1)
  }

  /** Records what a caller lost because its round did not wait for the solver, in basis points. */
  recordLoss(loss: number): void {
    this.#owedWaits = Math.max(this.#owedWaits, Math.min(MOST_LOSS, loss))
  }

  /** Records an offer. Of those in rounds that do not teach the pair, one in `PROOF_MS` counts. */
  recordOffer(isQuick: boolean, isTaught: boolean, now: number): void {
    this.#quotedAt = now
    if (!isTaught && now - this.#provedAt < PROOF_MS) return
    this.#provedAt = now
    this.#presence = counted(this.#presence, 1)
    this.#quickness = counted(this.#quickness, isQuick ? 1 : -1)
  }

  /** Records a request without an offer, in a round that teaches the pair. */
  recordMiss(): void {
    this.#presence = counted(this.#presence, -1)
    if (this.#presence === 0) this.gaps.add(NO_OFFER_GAP)
  }

  /** Whether rounds ask the solver in the pair, whatever its requests in others came to. */
  isReliable(now: number): boolean {
    return this.#presence > 0 && now - this.#quotedAt <= RELIABLE_MS
  }

  /** Whether the solver has made a valid offer in the pair within a day. */
  hasQuoted(now: number): boolean {
    return now - this.#quotedAt <= EXPECTED_MS
  }
}

function counted(count: number, change: number): number {
  return Math.min(MOST_EVIDENCE, Math.max(0, count + change))
}

/** The lower one of the two in the middle when their number is even; undefined without a value. */
export function medianOf(values: readonly number[]): number | undefined {
  return [...values].sort((one, other) => one - other)[(values.length - 1) >> 1]
}
