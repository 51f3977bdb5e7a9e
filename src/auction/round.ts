import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import { gapBps, isBetter, rateOf } from '../../packages/protocol/src/quotes/offer.js'
import type { SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import { CANCELLED, type SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { CallSignal } from '../clients/call.js'
import { afterReading } from '../concurrency/process-pauses.js'
import { dropOf, recordEnd, recordRequest, type Wait, waitsUntilMs } from '../standing/standing.js'
import { Attempt, answeredInMs, type SolverAttempt } from './attempt.js'
import type { RoundLimits } from './round-queue.js'
import type { Asked } from './solver-choice.js'

/** The time from which a round ends as soon as it has enough offers (docs/decisions.md, D16, D30). */
export interface SoftDeadline {
  /** Milliseconds from the request. */
  readonly afterMs: number
  /** Valid offers that are enough. */
  readonly minQuotes: number
  /** Whether it is the instance's own: then the standing of the solvers says whom the round waits for. */
  readonly isOwn: boolean
}

/** The soft deadline of QUOTE_SOFT_TIMEOUT_MS; undefined when it is 0. */
export function ownSoftDeadline(afterMs: number, minQuotes = 1): SoftDeadline | undefined {
  return afterMs === 0 ? undefined : { afterMs, minQuotes, isOwn: true }
}

/** When a round ends. Times are milliseconds from the request. */
export interface RoundTimes extends RoundLimits {
  /** Time from the request to the start of the round. */
  readonly waitedMs: number
  /** Until when it reads on: QUOTE_TIMEOUT_MS. */
  readonly readMs: number
  /** QUOTE_SOFT_TIMEOUT_MS; infinite for none. */
  readonly softMs: number
  /** Undefined for a round that waits for all solvers. */
  readonly softDeadline: SoftDeadline | undefined
  /** Output by input as the client usually gets it; 0 when nothing is known. */
  readonly usualRate: number
}

/** Gets the best offer so far, with the results so far. */
export type OnBest = (best: SignedQuote, attempts: readonly SolverAttempt[]) => void

export interface RoundSetup {
  readonly times: RoundTimes
  readonly asked: readonly Asked[]
  /** The id of the quote for the solver with this index. */
  readonly quoteIdOf: (index: number) => string
  /** Asks one solver, and validates its reply. The promise is never rejected. */
  readonly ask: (attempt: Attempt) => Promise<SolverResult>
  /** Aborted when the caller leaves. */
  readonly signal: CallSignal
  readonly clock: Clock
  /** Called before the answer with each offer that is better than all before it. Must not throw. */
  readonly onBest: OnBest
  /** Called with each request that has ended: with the first ones at the answer. Must not throw. */
  readonly onEnd: (ended: EndedAttempt, round: Round) => void
}

/** A request that has ended, in time or after the answer. */
export interface EndedAttempt {
  readonly attempt: Attempt
  /** Its own result, whatever the caller was told. */
  readonly settled: SolverAttempt
  /** Milliseconds from the request. */
  readonly atMs: number
  readonly isInTime: boolean
  /** How much better its offer was than all before it that came before the answer, in basis points; 0 for the first one. */
  readonly gain: number
}

/** The part of the timeout for which a round may have waited to begin, so that its solvers had nearly all of it. */
const MAX_WAITED_PART = 1 / 10
/** A timer that is late by more than this tells that the process was paused. Up to this, it is usual under load. */
const USUAL_LATENESS_MS = 200

/** The requests to solvers for one quote: until the answer, and after it until all have ended, at the latest at QUOTE_TIMEOUT_MS. */
export class Round {
  /** What the caller is told, in the order of the results. */
  readonly attempts: SolverAttempt[] = []
  /** The requests that have ended, in their order. */
  readonly ended: EndedAttempt[] = []
  /** When the first valid offer came. */
  offeredAt: number | undefined
  /** The best offer before the answer. */
  best: SignedQuote | undefined
  /** When the answer was due; undefined before. */
  answeredAt: number | undefined
  /** Whether the caller left before the answer. */
  hasLeft = false
  readonly #options: RoundSetup
  readonly #open: Set<Attempt>
  readonly #onLeave = () => this.#leave()
  #onAnswer = () => {}
  #timer: Timer | undefined
  #timerAtMs = Number.NaN
  #pausedMs = 0

  constructor(options: RoundSetup) {
    const { asked, quoteIdOf, clock } = options
    this.#options = options
    this.#open = new Set(
      asked.map((solver, index) => new Attempt(solver, index, quoteIdOf(index), this, clock.monotonic)),
    )
  }

  get times(): RoundTimes {
    return this.#options.times
  }

  /** Asks the solvers. @returns when the answer is due */
  start(): Promise<void> {
    const { signal } = this.#options
    return new Promise((resolve) => {
      this.#onAnswer = resolve
      signal.addEventListener('abort', this.#onLeave)
      for (const attempt of [...this.#open]) void this.#ask(attempt)
      if (signal.aborted) this.#leave()
      this.#check()
    })
  }

  /** For how many milliseconds the process was paused when the round was due to end. */
  get pausedMs(): number {
    return this.#lateMs() || this.#pausedMs
  }

  /**
   * The result of a solver without an answer: it has lost time only by the service's own timeout, of which it had nearly all
   * (docs/decisions.md, D14).
   */
  #resultAtTimeout(): SolverResult {
    const { waitedMs, limitMs, readMs } = this.times
    const hadAll = limitMs >= readMs && waitedMs <= readMs * MAX_WAITED_PART && this.pausedMs === 0
    return hadAll ? LATE : CANCELLED
  }

  /** By how many basis points the best offer is worse than usual; 0 when it is not. */
  get drop(): number {
    return this.best === undefined ? 0 : dropOf(rateOf(this.best), this.times.usualRate)
  }

  /** How long it waits for a solver, by its best offer so far. */
  #waitFor({ wait, waitWhenWorse }: Asked): Wait {
    return this.drop > 0 ? waitWhenWorse : wait
  }

  /** Whether the round waited for the solver by the instance's rule, and had an offer before the request ended. */
  hasWaitedFor(asked: Asked, atMs: number): boolean {
    const { requestedAt, softDeadline } = this.times
    const hadOffer = this.offeredAt !== undefined && this.offeredAt < requestedAt + atMs
    return hadOffer && softDeadline?.isOwn === true && this.#waitFor(asked) === 'beyond'
  }

  #elapsedMs(): number {
    return this.#options.clock.monotonic() - this.times.requestedAt
  }

  async #ask(attempt: Attempt): Promise<void> {
    const { standing, wait } = attempt.asked
    recordRequest(standing, attempt, wait, this.#options.clock.monotonic())
    const reached = await this.#options.ask(attempt)
    const settled = attempt.settle(attempt.resultOf(reached))
    this.#open.delete(attempt)
    const ended = this.#record(attempt, settled)
    if (this.answeredAt === undefined) this.#check()
    else this.#options.onEnd(ended, this)
    if (this.#open.size === 0) this.#timer?.stop()
  }

  #record(attempt: Attempt, settled: SolverAttempt): EndedAttempt {
    const { result } = settled
    const now = this.#options.clock.monotonic()
    const isInTime = this.answeredAt === undefined
    const isOffer = result.kind === 'quoted'
    const end = { answeredInMs: answeredInMs(settled), isOffer, isFailed: result.kind === 'failed' }
    recordEnd(attempt.asked.standing, attempt, end, now)
    const gain =
      result.kind === 'quoted' && this.best !== undefined ? -gapBps(result.offer.quote, this.best.quote) : 0
    const ended = { attempt, settled, atMs: now - this.times.requestedAt, isInTime, gain }
    this.ended.push(ended)
    if (!isInTime) return ended
    this.attempts.push(settled)
    if (result.kind !== 'quoted') return ended
    this.offeredAt ??= now
    if (this.best === undefined || isBetter(result.offer, this.best)) {
      this.best = result.offer
      this.#options.onBest(result.offer, this.attempts)
    }
    return ended
  }

  /** Ends the round when it waits for nobody any more. Otherwise it looks again when that may be so without a further reply. */
  #check(): void {
    if (this.answeredAt !== undefined) return
    const elapsedMs = this.#elapsedMs()
    const untilMs = Math.min(this.times.limitMs, this.#waitsUntilMs())
    if (elapsedMs < untilMs) this.#lookAt(untilMs)
    // After a pause of the process, the timer ends the round when all that has arrived is read.
    else if (this.#open.size === 0 || this.#lateMs() === 0) this.#end()
  }

  /** By how much the timer is late because the process was paused; 0 when it is not late. */
  #lateMs(): number {
    const lateMs = this.#elapsedMs() - this.#timerAtMs
    return lateMs > USUAL_LATENESS_MS ? lateMs : 0
  }

  /** Until when the round waits for the solvers that have not answered (docs/decisions.md, D30). */
  #waitsUntilMs(): number {
    const { softDeadline, softMs } = this.times
    const waits = [...this.#open].map(({ asked }) => this.#waitFor(asked))
    if (waits.every((wait) => wait === 'never')) return 0
    const offers = this.attempts.filter(({ result }) => result.kind === 'quoted').length
    if (softDeadline === undefined || offers < softDeadline.minQuotes) return Number.POSITIVE_INFINITY
    if (!softDeadline.isOwn) return softDeadline.afterMs
    return waitsUntilMs(waits, softMs)
  }

  /** Sets the one timer of the round. After a pause of the process, what has arrived meanwhile is read first. */
  #lookAt(atMs: number): void {
    if (atMs === this.#timerAtMs) return
    this.#timer?.stop()
    this.#timerAtMs = atMs
    const onTime = () => {
      if (this.#timerAtMs !== atMs) return
      this.#timerAtMs = Number.NaN
      if (this.answeredAt === undefined) this.#check()
      else this.#endOpen(this.#resultAtTimeout())
    }
    this.#timer = this.#options.clock.setTimeout(
      () => {
        this.#pausedMs = this.#lateMs()
        if (this.#pausedMs === 0) onTime()
        else void afterReading(onTime)
      },
      Math.max(0, atMs - this.#elapsedMs()),
    )
  }

  /** The answer is due: tells of each open request what ended the wait for it, and reads on. */
  #end(): void {
    const { limitMs, readMs, softDeadline } = this.times
    const elapsedMs = this.#elapsedMs()
    const atTimeout = this.#resultAtTimeout()
    if (elapsedMs >= limitMs) this.#tell(atTimeout)
    else this.#tell(softDeadline?.isOwn ? SOFT_DEADLINE : CANCELLED)
    if (elapsedMs >= readMs) this.#endOpen(atTimeout)
    else if (this.#open.size > 0) this.#lookAt(readMs)
  }

  #leave(): void {
    if (this.answeredAt !== undefined) return
    this.hasLeft = true
    this.#tell(CANCELLED)
    this.#endOpen(CANCELLED)
  }

  #tell(result: SolverResult): void {
    this.#options.signal.removeEventListener('abort', this.#onLeave)
    this.answeredAt = this.#options.clock.monotonic()
    for (const attempt of this.#open) {
      const told = {
        ...attempt.settle(attempt.asked.wait === 'never' ? CIRCUIT_OPEN : result),
        isOpen: true,
      } as const
      attempt.told = told
      this.attempts.push(told)
      attempt.readOn()
    }
    // Ends what is left of the replies. To abort takes long, and only requests declined over HTTP leave something.
    for (const { attempt, settled } of this.ended) if ('status' in settled.result) attempt.end(CANCELLED)
    this.#onAnswer()
    for (const ended of this.ended) this.#options.onEnd(ended, this)
  }

  #endOpen(result: SolverResult): void {
    for (const attempt of this.#open) attempt.end(result)
  }
}

const LATE: SolverResult = { kind: 'late' }
const CIRCUIT_OPEN: SolverResult = { kind: 'circuit_open' }
const SOFT_DEADLINE: SolverResult = { kind: 'soft_deadline' }
