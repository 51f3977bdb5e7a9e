import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import { shuttingDown, toServiceError } from '../../packages/protocol/src/errors.js'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { CallContext } from '../clients/call.js'
import type { Auction, BestOffer, RoundCall, RoundOptions, RoundResult } from './auction.js'

/** What a client of a quote stream learns (docs/decisions.md, D16). */
export type QuoteStreamItem =
  /** An offer is the best one of its round so far. */
  | ({ readonly kind: 'quote'; readonly round: number } & BestOffer)
  | ({ readonly kind: 'done'; readonly round: number } & Pick<RoundResult, 'quoteId' | 'counts' | 'offers'>)
  | { readonly kind: 'heartbeat' }

export interface QuoteStreamOptions {
  readonly auction: Auction
  /** Makes the request of a round, with its deadlines. */
  readonly toRequest: () => QuoteRequest
  readonly roundOptions: RoundOptions
  /** Milliseconds from the start of a round to the start of the next one; undefined for one round. */
  readonly refreshMs: number | undefined
  readonly caller: Pick<CallContext, 'client' | 'timeoutMs' | 'traceparent'>
  /**
   * Counts a further round against the limit of the caller.
   * @throws ServiceError RATE_LIMITED, with the seconds until the next attempt
   */
  readonly admitRound: () => Promise<void>
  /** Whether everything that was sent has left this process. */
  readonly isDrained: () => boolean
  /** Aborts the stream's own signal, and ends the connection of a client that does not read. */
  readonly abandon: () => void
  /** Aborted when the service ends: the stream ends after the round under way. */
  readonly shutDown: AbortSignal
  readonly clock: Clock
}

/** No further round begins after this time. */
const LONGEST_MS = 10 * 60_000
const HEARTBEAT_MS = 15_000
/** How long a client may take to read what was sent. */
const DRAIN_MS = 10_000
/** The interval of looking whether a slow client has read. */
const DRAIN_CHECK_MS = 100

/**
 * One client's stream of quotes: rounds, one after the other, each with its improvements. An offer that a better one supersedes
 * before it is taken is left out.
 * @param signal aborted when the client has left. It ends the stream and its requests to solvers.
 * @throws ServiceError NO_QUOTES, SOLVERS_BUSY, CHAIN_UNAVAILABLE, SHUTTING_DOWN, or an error of the limits
 */
export async function* quoteStream(
  options: QuoteStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<QuoteStreamItem, void> {
  if (signal.aborted) return
  const { abandon, shutDown, clock } = options
  const alarm = new Alarm(clock)
  let stallTimer: Timer | undefined
  signal.addEventListener('abort', () => {
    stallTimer?.stop()
    alarm.ring()
  })
  shutDown.addEventListener('abort', () => alarm.ring(), { signal })
  try {
    for await (const item of playRounds(options, alarm, signal)) {
      if (signal.aborted) return
      stallTimer = clock.setTimeout(abandon, DRAIN_MS)
      yield item
      stallTimer.stop()
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}

/** @throws the reason of the signal too */
async function* playRounds(
  options: QuoteStreamOptions,
  alarm: Alarm,
  signal: AbortSignal,
): AsyncGenerator<QuoteStreamItem, void> {
  const { caller, refreshMs = Number.POSITIVE_INFINITY, clock } = options
  const openedAt = clock.monotonic()
  const elapsedMs = () => clock.monotonic() - openedAt
  /** No further round begins after this time from the opening. */
  const longestMs = Math.min(LONGEST_MS, caller.timeoutMs ?? LONGEST_MS)

  function assertOpen(): void {
    signal.throwIfAborted()
    if (options.shutDown.aborted) throw shuttingDown()
  }

  /**
   * Waits until the next round may begin.
   * @param untilMs the earliest time, in milliseconds from the opening
   * @returns false when no round begins any more
   */
  async function* pause(untilMs: number): AsyncGenerator<QuoteStreamItem, boolean> {
    if (untilMs >= longestMs) return false
    for (let leftMs = untilMs - elapsedMs(); leftMs > 0; leftMs = untilMs - elapsedMs()) {
      assertOpen()
      const isTimeOver = await alarm.wait(Math.min(leftMs, HEARTBEAT_MS))
      if (isTimeOver && leftMs > HEARTBEAT_MS && options.isDrained()) yield { kind: 'heartbeat' }
    }
    const drainedMs = elapsedMs() + DRAIN_MS
    while (!options.isDrained()) {
      if (elapsedMs() >= drainedMs) options.abandon()
      assertOpen()
      await alarm.wait(DRAIN_CHECK_MS)
    }
    assertOpen()
    try {
      await options.admitRound()
    } catch (thrown) {
      const { retryAfterSeconds } = toServiceError(thrown)
      if (retryAfterSeconds === undefined) throw thrown
      return yield* pause(elapsedMs() + retryAfterSeconds * 1000)
    }
    assertOpen()
    return elapsedMs() < longestMs
  }

  let round = 0
  let startedMs: number
  do {
    round++
    startedMs = elapsedMs()
    const timeoutMs = caller.timeoutMs && caller.timeoutMs - startedMs
    yield* playRound(round, options, { ...caller, timeoutMs, signal }, alarm)
  } while (yield* pause(startedMs + refreshMs))
}

/** One round: its improvements, then its end. */
async function* playRound(
  round: number,
  { auction, toRequest, roundOptions, refreshMs }: QuoteStreamOptions,
  caller: RoundCall,
  alarm: Alarm,
): AsyncGenerator<QuoteStreamItem, void> {
  let best: BestOffer | undefined
  let isOver = false
  const onBest = (offer: BestOffer) => {
    best = offer
    alarm.ring()
  }
  const end = () => {
    isOver = true
    alarm.ring()
  }
  const result = auction.runRound(toRequest(), caller, { ...roundOptions, onBest })
  result.then(end, end)
  while (best !== undefined || !isOver) {
    if (caller.signal.aborted) return
    if (best !== undefined) {
      const offer = best
      best = undefined
      yield { kind: 'quote', round, ...offer }
    } else if (await alarm.wait(HEARTBEAT_MS)) yield { kind: 'heartbeat' }
  }
  const { error, ...ending } = await result
  if (error !== undefined && refreshMs === undefined) throw error
  yield { kind: 'done', round, ...ending }
}

/** Waits that something may end before their time. */
class Alarm {
  readonly #clock: Clock
  #end = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns whether the time is over: false when it rang before */
  wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => resolve(true), ms)
      this.#end = () => {
        timer.stop()
        resolve(false)
      }
    })
  }

  /** Ends the wait that is under way. */
  ring(): void {
    this.#end()
  }
}
