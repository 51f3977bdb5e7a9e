import type { Solver } from '../domain/solver.js'
import type { Peers } from './peers.js'

/** How asking a solver ended, as far as its standing goes. */
export type AskResult =
  /** With a valid offer, in time. */
  | 'valid'
  /** With a refusal, in time: it did not want to quote, and said so. */
  | 'refused'
  /** With an invalid offer, or an error. */
  | 'failed'
  /** With nothing, when the asking was over. */
  | 'silent'

/** What a solver may expect of the next quote. */
export type Standing =
  /** It answers well: asked and waited for. */
  | 'sound'
  /** It answers badly or slowly, or its term on the bench has run out: asked and waited for, behind the sound ones. */
  | 'weak'
  /** Nothing comes from it while others answer: not asked until something does. */
  | 'stalled'
  /** It failed several times in a row: not waited for. */
  | 'benched'

/** A term on the bench; each that follows soon takes twice as long as the one before. */
export interface BenchTerm {
  /** How many terms there have been in close succession, this one included. */
  readonly level: number
  /** When the solver may be waited for again, on the record's clock. */
  readonly until: number
}

/** One ask that a solver has not answered yet. */
export interface OpenAsk {
  end(result: AskResult, now: number): void
}

/** So many failures in a row put a solver on the bench. */
const FAILURES_TO_BENCH = 3
const FIRST_TERM_MS = 5_000
export const LONGEST_TERM_MS = 300_000
/** On the bench, a solver is asked this often without anyone waiting. */
const PROBE_INTERVAL_MS = 5_000
/** So many asks must be open at once before a solver counts as stalled. */
const ASKS_TO_STALL = 3
/** A solver stalls when it takes so many times as long as it usually does, */
const STALL_FACTOR = 3
/** but not within this part of the quote's time-out. */
const STALL_SHARE = 1 / 40
/** What a caller cut short says nothing of a solver that had less than this part of the quote's time-out. */
const FAIR_SHARE = 1 / 2
/** Weight of the last answer in the averages. */
const LAST_WEIGHT = 1 / 8
/** A sound solver answers validly this often, of what it does not refuse, */
const SOUND_VALID_SHARE = 0.8
/** and usually within this part of the quote's time-out. */
const SOUND_LATENCY_SHARE = 1 / 2

/**
 * How one solver has answered of late. Times are milliseconds on a clock that never goes back.
 *
 * After three failures in a row it is benched: for 5 s, doubling to 5 minutes when that happens again within 5 minutes
 * of its return. Meanwhile it is asked every 5 s without anyone waiting, and the first answer in time brings it back.
 * When the term is over one quote waits for it again, and a single failure is the next term.
 */
export class SolverRecord {
  readonly #quoteTimeoutMs: number
  readonly #onBench: (term: BenchTerm | undefined) => void
  readonly #open = new Set<Ask>()
  #term: BenchTerm | undefined
  /** The ask that decides whether the next term begins. */
  #trial: Ask | undefined
  #lastLevel = 0
  #returnedAt = Number.NEGATIVE_INFINITY
  #probedAt = Number.NEGATIVE_INFINITY
  #answeredAt = Number.NEGATIVE_INFINITY
  #failuresInARow = 0
  #validShare = 1
  #usualMs: number | undefined

  /**
   * @param solver replaced when its registration changes
   * @param term one that was begun before a restart
   * @param onBench told of each new term, and with undefined of the return
   */
  constructor(
    public solver: Solver,
    options: {
      readonly quoteTimeoutMs: number
      readonly term?: BenchTerm | undefined
      readonly onBench: (term: BenchTerm | undefined) => void
    },
  ) {
    this.#quoteTimeoutMs = options.quoteTimeoutMs
    this.#onBench = options.onBench
    this.#term = options.term
    this.#lastLevel = options.term?.level ?? 0
  }

  /** The part of its answers that were valid, of late; refusals do not count. */
  get validShare(): number {
    return this.#validShare
  }

  /** How long it usually takes to answer; undefined until it has. */
  get usualMs(): number | undefined {
    return this.#usualMs
  }

  get isBenched(): boolean {
    return this.#term !== undefined
  }

  /** How bad it is, to tell the least bad when there are no others. */
  get badness(): number {
    return this.#term?.level ?? 0
  }

  standing(now: number): Standing {
    if (this.#term !== undefined)
      return now < this.#term.until || this.#trial !== undefined ? 'benched' : 'weak'
    if (this.#isStalled(now)) return 'stalled'
    const isQuick = (this.#usualMs ?? 0) <= this.#quoteTimeoutMs * SOUND_LATENCY_SHARE
    return isQuick && this.#validShare >= SOUND_VALID_SHARE ? 'sound' : 'weak'
  }

  /** Whether it is time to ask a solver on the bench without waiting for it. */
  isProbeDue(now: number): boolean {
    return this.isBenched && now - this.#probedAt >= PROBE_INTERVAL_MS
  }

  /** Notes that the solver is asked from now on. */
  ask(now: number, peers: Peers): OpenAsk {
    const ask = new Ask(now, peers, (result, endedAt) => {
      this.#open.delete(ask)
      const isTrial = this.#trial === ask
      if (isTrial) this.#trial = undefined
      this.#note(result, endedAt, { tookMs: endedAt - now, isTrial })
    })
    this.#open.add(ask)
    if (this.#term !== undefined) {
      this.#probedAt = now
      if (now >= this.#term.until) this.#trial ??= ask
    }
    return ask
  }

  #note(result: AskResult, now: number, { tookMs, isTrial }: { tookMs: number; isTrial: boolean }): void {
    if (result === 'silent' && tookMs < this.#quoteTimeoutMs * FAIR_SHARE) return
    if (result === 'silent' || result === 'failed') this.#fail(now, isTrial)
    else this.#succeed(now, tookMs)
    if (result !== 'silent') this.#answeredAt = now
    if (result !== 'refused')
      this.#validShare += ((result === 'valid' ? 1 : 0) - this.#validShare) * LAST_WEIGHT
  }

  #fail(now: number, isTrial: boolean): void {
    this.#failuresInARow++
    const isOnBench = this.#term !== undefined
    if (isOnBench ? !isTrial : this.#failuresInARow < FAILURES_TO_BENCH) return
    const level = !isOnBench && now - this.#returnedAt > LONGEST_TERM_MS ? 1 : this.#lastLevel + 1
    const termMs = Math.min(FIRST_TERM_MS * 2 ** (level - 1), LONGEST_TERM_MS)
    this.#lastLevel = level
    this.#term = { level, until: now + termMs }
    this.#probedAt = now
    this.#onBench(this.#term)
  }

  #succeed(now: number, tookMs: number): void {
    this.#failuresInARow = 0
    this.#usualMs =
      this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * LAST_WEIGHT
    if (this.#term === undefined) return
    this.#term = undefined
    this.#trial = undefined
    this.#returnedAt = now
    this.#onBench(undefined)
  }

  #isStalled(now: number): boolean {
    const stallMs = Math.max(this.#quoteTimeoutMs * STALL_SHARE, (this.#usualMs ?? 0) * STALL_FACTOR)
    if (this.#open.size < ASKS_TO_STALL || now - this.#answeredAt <= stallMs) return false
    const [oldest, ...others] = [...this.#open].filter(({ startedAt }) => startedAt >= this.#answeredAt)
    if (oldest === undefined || others.length + 1 < ASKS_TO_STALL) return false
    return now - (oldest.peers.answeredAt ?? now) > stallMs
  }
}

class Ask implements OpenAsk {
  constructor(
    readonly startedAt: number,
    readonly peers: Peers,
    readonly end: (result: AskResult, now: number) => void,
  ) {}
}
