import { ServiceError, shuttingDown, toServiceError } from '../domain/errors.js'
import type { QuoteRequest } from '../domain/quote.js'
import type { VerifyMode } from '../domain/verification.js'
import type { Aggregator, BestOffer, RoundResult } from './aggregator.js'
import type { Caller, SoftDeadline } from './fan-out.js'

/** What a client of a quote stream learns (docs/decisions.md, D16). */
export type QuoteStreamItem =
  /** An offer is the best one of its round so far. */
  | ({ readonly kind: 'quote'; readonly round: number } & BestOffer)
  | ({ readonly kind: 'done'; readonly round: number } & Pick<RoundResult, 'quoteId' | 'counts' | 'offers'>)
  | { readonly kind: 'heartbeat' }

export interface QuoteStreamOptions {
  readonly aggregator: Pick<Aggregator, 'runRound'>
  /** Makes the request of a round, with its deadlines. */
  readonly toRequest: () => QuoteRequest
  readonly softDeadline: SoftDeadline | undefined
  readonly verify: VerifyMode
  /** Milliseconds from the start of a round to the start of the next one; undefined for one round. */
  readonly refreshMs: number | undefined
  readonly caller: Pick<Caller, 'address' | 'timeoutMs' | 'traceparent'>
  /**
   * Counts a further round against the limit of the caller.
   * @throws ServiceError RATE_LIMITED, with the seconds until the next attempt
   */
  readonly admitRound: () => Promise<void>
  /** Whether everything that was sent has left this process. */
  readonly isDrained: () => boolean
  /** Ends the connection of a client that does not read. The stream has ended then. */
  readonly abandon: () => void
}

/** No further round begins after this time. */
const LONGEST_MS = 10 * 60_000
const HEARTBEAT_MS = 15_000
/** How long a client may take to read what was sent. */
const DRAIN_MS = 10_000
/** The interval of looking whether a slow client has read. */
const DRAIN_CHECK_MS = 100

/** What a stream does next. */
type State =
  | { readonly kind: 'begin_round' }
  | { readonly kind: 'round' }
  /** Waits until a time in milliseconds from the opening. */
  | { readonly kind: 'pause'; readonly untilMs: number }
  /** Waits until the client has read, at the latest until a time. */
  | { readonly kind: 'drain'; readonly untilMs: number }
  /** Waits for the limit of the caller. */
  | { readonly kind: 'admit' }
  | { readonly kind: 'end' }

/**
 * One client's stream of quotes: rounds, one after the other, each with its improvements. It is a state machine and no
 * generator, so that an idle stream keeps nothing of its last round in memory.
 */
export class QuoteStream {
  readonly #options: QuoteStreamOptions
  readonly #openedAt = performance.now()
  /** Ends the requests to solvers of the round under way, when the client has left. */
  #leaving: AbortController | undefined
  #state: State = { kind: 'begin_round' }
  #round = 0
  #roundStartedMs = 0
  /** The best offer of the round, until it is taken. */
  #best: BestOffer | undefined
  /** The end of the round, until it is taken. */
  #ending: RoundResult | ServiceError | undefined
  #isShuttingDown = false
  #wake = () => {}
  #stalled: NodeJS.Timeout | undefined

  constructor(options: QuoteStreamOptions) {
    this.#options = options
  }

  /** Ends the stream and its requests to solvers, as the client has left. */
  leave(): void {
    this.#state = { kind: 'end' }
    this.#leaving?.abort()
    this.#stopStallTimer()
    this.#wake()
  }

  /** Ends the stream after the round that is under way. */
  shutDown(): void {
    this.#isShuttingDown = true
    this.#wake()
  }

  /**
   * The next item. Call it when the client can take one; an item that was superseded meanwhile is left out.
   * @returns undefined at the end
   * @throws ServiceError NO_QUOTES, SOLVERS_BUSY, CHAIN_UNAVAILABLE, SHUTTING_DOWN, or an error of the limits
   */
  async next(): Promise<QuoteStreamItem | undefined> {
    this.#stopStallTimer()
    for (;;) {
      if (this.#state.kind === 'end') return undefined
      const item = await this.#step(this.#state)
      if (item === undefined) continue
      this.#stalled = setTimeout(() => this.#abandon(), DRAIN_MS)
      return item
    }
  }

  /** Takes one step. @returns an item, if there is one */
  #step(state: State): Promise<QuoteStreamItem | undefined> | QuoteStreamItem | undefined {
    if (this.#isShuttingDown && this.#round > 0 && state.kind !== 'round') throw shuttingDown()
    switch (state.kind) {
      case 'begin_round':
        return this.#beginRound()
      case 'round':
        return this.#takeFromRound()
      case 'pause':
        return this.#pause(state.untilMs)
      case 'drain':
        return this.#drain(state.untilMs)
      case 'admit':
        return this.#admit()
      case 'end':
        return undefined
    }
  }

  #beginRound(): undefined {
    const { aggregator, toRequest, softDeadline, verify, caller } = this.#options
    if (this.#round > 0 && this.#elapsedMs() >= this.#longestMs) {
      this.#state = { kind: 'end' }
      return
    }
    this.#state = { kind: 'round' }
    this.#round++
    this.#roundStartedMs = this.#elapsedMs()
    const timeoutMs = caller.timeoutMs && caller.timeoutMs - this.#roundStartedMs
    const onBest = (best: BestOffer) => {
      this.#best = best
      this.#wake()
    }
    const end = (ending: RoundResult | ServiceError) => {
      this.#ending = ending
      this.#leaving = undefined
      this.#wake()
    }
    this.#leaving = new AbortController()
    const roundCaller = { ...caller, timeoutMs, signal: this.#leaving.signal }
    aggregator
      .runRound(toRequest(), roundCaller, { softDeadline, verify, onBest })
      .then(end, (thrown) => end(toServiceError(thrown)))
  }

  #takeFromRound(): Promise<QuoteStreamItem | undefined> | QuoteStreamItem {
    const [round, best, ending] = [this.#round, this.#best, this.#ending]
    if (best !== undefined) {
      this.#best = undefined
      return { kind: 'quote', round, ...best }
    }
    if (ending === undefined)
      return this.#sleep(HEARTBEAT_MS, (wasWoken) => (wasWoken ? undefined : { kind: 'heartbeat' }))
    this.#ending = undefined
    this.#state = this.#pauseUntil(
      this.#roundStartedMs + (this.#options.refreshMs ?? Number.POSITIVE_INFINITY),
    )
    if (ending instanceof ServiceError) throw ending
    if (ending.error !== undefined && this.#options.refreshMs === undefined) throw ending.error
    return { kind: 'done', round, ...ending }
  }

  /** @param untilMs when the next round may begin, in milliseconds from the opening */
  #pauseUntil(untilMs: number): State {
    return untilMs >= this.#longestMs ? { kind: 'end' } : { kind: 'pause', untilMs }
  }

  #pause(untilMs: number): Promise<QuoteStreamItem | undefined> | undefined {
    const leftMs = untilMs - this.#elapsedMs()
    if (leftMs > 0)
      return this.#sleep(Math.min(leftMs, HEARTBEAT_MS), (wasWoken) => {
        const isHeartbeatDue = !wasWoken && leftMs > HEARTBEAT_MS && this.#options.isDrained()
        return isHeartbeatDue ? { kind: 'heartbeat' } : undefined
      })
    this.#state = { kind: 'drain', untilMs: this.#elapsedMs() + DRAIN_MS }
    return undefined
  }

  #drain(untilMs: number): Promise<undefined> | undefined {
    if (this.#options.isDrained()) this.#state = { kind: 'admit' }
    else if (this.#elapsedMs() >= untilMs) this.#abandon()
    else return this.#sleep(DRAIN_CHECK_MS, () => undefined)
    return undefined
  }

  async #admit(): Promise<undefined> {
    try {
      await this.#options.admitRound()
      if (this.#state.kind === 'admit') this.#state = { kind: 'begin_round' }
    } catch (thrown) {
      const error = toServiceError(thrown)
      if (error.retryAfterSeconds === undefined) throw error
      if (this.#state.kind !== 'admit') return
      this.#state = this.#pauseUntil(this.#elapsedMs() + error.retryAfterSeconds * 1000)
    }
  }

  /**
   * Waits without a function that awaits it, which an idle stream would keep in memory.
   * @param toResult gets whether something happened before the time was over
   */
  #sleep<T>(ms: number, toResult: (wasWoken: boolean) => T): Promise<T> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(toResult(false)), ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(toResult(true))
      }
    })
  }

  #stopStallTimer(): void {
    clearTimeout(this.#stalled)
    this.#stalled = undefined
  }

  #abandon(): void {
    this.leave()
    this.#options.abandon()
  }

  /** No further round begins after this time from the opening. */
  get #longestMs(): number {
    return Math.min(LONGEST_MS, this.#options.caller.timeoutMs ?? LONGEST_MS)
  }

  #elapsedMs(): number {
    return performance.now() - this.#openedAt
  }
}
