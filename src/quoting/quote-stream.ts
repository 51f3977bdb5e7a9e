import { ServiceError, shuttingDown, toServiceError } from '../domain/errors.js'
import type { QuoteRequest } from '../domain/quote.js'
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
  /** Ends the connection of a client that does not read. */
  readonly abandon: () => void
}

/** No further round begins after this time. */
const LONGEST_MS = 10 * 60_000
const HEARTBEAT_MS = 15_000
/** How long a client may take to read what was sent. */
const DRAIN_MS = 10_000
/** The interval of looking whether a slow client has read. */
const DRAIN_CHECK_MS = 100

/** One client's stream of quotes: rounds, one after the other, each with its improvements. */
export class QuoteStream {
  readonly #options: QuoteStreamOptions
  readonly #openedAt = performance.now()
  /** Aborted when the client has left: ends its requests to solvers. */
  readonly #leaving = new AbortController()
  #isShuttingDown = false
  #wake = () => {}

  constructor(options: QuoteStreamOptions) {
    this.#options = options
  }

  /** Ends the stream and its requests to solvers, as the client has left. */
  leave(): void {
    this.#leaving.abort()
    this.#wake()
  }

  /** Ends the stream after the round that is under way. */
  shutDown(): void {
    this.#isShuttingDown = true
    this.#wake()
  }

  /**
   * The items. Take the next one when the client can take it; an item that was superseded meanwhile is left out.
   * @throws ServiceError NO_QUOTES, SOLVERS_BUSY, CHAIN_UNAVAILABLE, SHUTTING_DOWN or SUBSCRIBER_TOO_SLOW
   */
  async *items(): AsyncGenerator<QuoteStreamItem, void, void> {
    let stalled: NodeJS.Timeout | undefined
    try {
      for await (const item of this.#rounds()) {
        stalled = setTimeout(() => this.#abandon(), DRAIN_MS)
        yield item
        clearTimeout(stalled)
      }
    } finally {
      clearTimeout(stalled)
      this.#leaving.abort()
    }
  }

  async *#rounds(): AsyncGenerator<QuoteStreamItem, void, void> {
    const { refreshMs } = this.#options
    for (let round = 1; ; round++) {
      const startedMs = this.#elapsedMs()
      yield* this.#round(round)
      if (this.#hasLeft || refreshMs === undefined) return
      const nextMs = startedMs + refreshMs
      if (nextMs >= Math.min(LONGEST_MS, this.#options.caller.timeoutMs ?? LONGEST_MS)) return
      yield* this.#pauseUntil(nextMs)
      await this.#untilDrained()
      yield* this.#untilAdmitted()
      if (this.#hasLeft) return
    }
  }

  /** Sends the best offers of a round, then its end. */
  async *#round(round: number): AsyncGenerator<QuoteStreamItem, void, void> {
    const { aggregator, toRequest, softDeadline, caller, refreshMs } = this.#options
    let best: BestOffer | undefined
    let ending: RoundResult | ServiceError | undefined
    const onBest = (offer: BestOffer) => {
      best = offer
      this.#wake()
    }
    const end = (result: RoundResult | ServiceError) => {
      ending = result
      this.#wake()
    }
    const timeoutMs = caller.timeoutMs && caller.timeoutMs - this.#elapsedMs()
    aggregator
      .runRound(toRequest(), { ...caller, timeoutMs, signal: this.#leaving.signal }, { softDeadline, onBest })
      .then(end, (thrown) => end(toServiceError(thrown)))
    for (;;) {
      if (this.#hasLeft) return
      if (best !== undefined) {
        const latest: BestOffer = best
        best = undefined
        yield { kind: 'quote', round, ...latest }
      } else if (ending === undefined) {
        if (!(await this.#sleep(HEARTBEAT_MS))) yield { kind: 'heartbeat' }
      } else break
    }
    const result: RoundResult | ServiceError = ending
    if (result instanceof ServiceError) throw result
    if (result.error !== undefined && refreshMs === undefined) throw result.error
    yield { kind: 'done', round, ...result }
  }

  /** @param untilMs milliseconds from the opening of the stream */
  async *#pauseUntil(untilMs: number): AsyncGenerator<QuoteStreamItem, void, void> {
    for (;;) {
      if (this.#hasLeft) return
      if (this.#isShuttingDown) throw shuttingDown()
      const leftMs = untilMs - this.#elapsedMs()
      if (leftMs <= 0) return
      const wasWoken = await this.#sleep(Math.min(leftMs, HEARTBEAT_MS))
      if (!wasWoken && leftMs > HEARTBEAT_MS && this.#options.isDrained()) yield { kind: 'heartbeat' }
    }
  }

  async #untilDrained(): Promise<void> {
    const deadlineMs = this.#elapsedMs() + DRAIN_MS
    while (!this.#hasLeft && !this.#options.isDrained()) {
      if (this.#elapsedMs() >= deadlineMs) this.#abandon()
      await this.#sleep(DRAIN_CHECK_MS)
    }
  }

  async *#untilAdmitted(): AsyncGenerator<QuoteStreamItem, void, void> {
    while (!this.#hasLeft) {
      try {
        return await this.#options.admitRound()
      } catch (thrown) {
        const error = toServiceError(thrown)
        if (error.retryAfterSeconds === undefined) throw error
        yield* this.#pauseUntil(this.#elapsedMs() + error.retryAfterSeconds * 1000)
      }
    }
  }

  /** @returns whether something happened before the time was over */
  #sleep(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  #abandon(): void {
    this.leave()
    this.#options.abandon()
  }

  get #hasLeft(): boolean {
    return this.#leaving.signal.aborted
  }

  #elapsedMs(): number {
    return performance.now() - this.#openedAt
  }
}
