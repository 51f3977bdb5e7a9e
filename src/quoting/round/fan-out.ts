import { setMaxListeners } from 'node:events'
import type { Clock, Timer } from '../../../packages/protocol/src/clock.js'
import type { VerifyMode } from '../../../packages/protocol/src/quotes/verification.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { CallContext } from '../../clients/call.js'
import { afterReading, type PauseMeter } from '../../concurrency/process-pauses.js'
import { QuoteRound } from '../../solvers/conduct/round-verdicts.js'
import type { SolverHealth } from '../../solvers/conduct/solver-health.js'
import type { SolverRequest } from '../../solvers/transport/solver-transports.js'
import type { AttemptQuote, AttemptRequest, SolverAttempt } from './solver-attempt.js'

/** What a round needs of the call of its caller. */
export type RoundCall = Pick<CallContext, 'client' | 'signal' | 'timeoutMs' | 'traceparent'>

/** The time from which a round ends as soon as it has enough offers (docs/decisions.md, D16; docs/decisions.md, D24). */
export interface SoftDeadline {
  /** Milliseconds from the start of the round. */
  readonly afterMs: number
  /** Valid offers that are enough. A probe needs none. */
  readonly minQuotes: number
  /** Whether it is the instance's own: solvers that it cuts off have lost time. A caller's says nothing about them. */
  readonly isOwn: boolean
}

interface CollectOptions {
  /** Aborted when the caller leaves. */
  readonly signal?: AbortSignal
  readonly softDeadline?: SoftDeadline | undefined
  /** Called with each result when it is known. */
  readonly onAttempt?: (attempt: SolverAttempt) => void
}

/** The request of one round. The round adds its deadline. */
export interface FanOutRequest extends Omit<AttemptRequest, 'solverRequest'> {
  readonly solverRequest: Omit<SolverRequest, 'deadline'>
}

/** Sends a request to many solvers. */
export interface FanOut {
  /**
   * The longest time of a round for this caller in milliseconds: the quote timeout, or the caller's shorter deadline, less the time
   * in which the settlement contract checks the offers.
   */
  limitMs(caller: Pick<CallContext, 'timeoutMs'>, verify: VerifyMode): number
  /**
   * Asks all solvers at the same time.
   * @returns their results in the order of their arrival, as soon as all are there, at the latest at the end of the round
   */
  collect(
    request: FanOutRequest,
    healths: readonly SolverHealth[],
    round: QuoteRound,
    options?: CollectOptions,
  ): Promise<SolverAttempt[]>
  /** Asks a solver without a caller that waits for it. @returns the one request, with its result */
  probe(request: FanOutRequest, health: SolverHealth, client: string): Promise<readonly SolverAttempt[]>
}

/**
 * The part of a caller's deadline that is reserved for the way of the request and of its response; at most a fifth of the deadline. The
 * caller's time begins before the request arrives. A round trip between continents takes that long, and so does a busy machine.
 */
const TRANSPORT_RESERVE_MS = 250
/**
 * The longest part of a caller's deadline that is reserved for the checks of the settlement contract. Without it, one solver that
 * is silent would leave no time for them.
 */
const VERIFICATION_PART = 1 / 4
/** The part of the timeout for which a round may have waited to begin, so that its solvers had nearly all of it. */
const MAX_WAITED_PART = 1 / 10
/**
 * The part of the timeout for which the process may have been paused. What solvers send meanwhile waits in the system's
 * buffers and is read afterwards, so that they lose time only when the whole machine was paused.
 */
const MAX_PAUSED_PART = 1 / 2
const LATE: SolverResult = { kind: 'late' }
const SOFT_DEADLINE: SolverResult = { kind: 'soft_deadline' }
const CANCELLED: SolverResult = { kind: 'cancelled' }

interface FanOutOptions {
  readonly attemptQuote: AttemptQuote
  readonly quoteTimeoutMs: number
  /** 0 for none. */
  readonly quoteSoftTimeoutMs: number
  /** VERIFY_TIMEOUT_MS. */
  readonly verifyTimeoutMs: number
  readonly pauseMeter: PauseMeter
  readonly clock: Clock
}

/**
 * Builds the fan-out, with one promise for each solver, and one timer and one signal for the round. Callbacks gained nothing that
 * was measurable.
 */
export function createFanOut({
  attemptQuote,
  quoteTimeoutMs,
  quoteSoftTimeoutMs,
  verifyTimeoutMs,
  pauseMeter,
  clock,
}: FanOutOptions): FanOut {
  async function collect(
    request: FanOutRequest,
    healths: readonly SolverHealth[],
    round: QuoteRound,
    { signal, softDeadline, onAttempt }: CollectOptions = {},
  ): Promise<SolverAttempt[]> {
    const controller = new AbortController()
    // Each solver adds a listener. Node warns of a leak when there are more than ten.
    setMaxListeners(0, controller.signal)
    const settled: SolverAttempt[] = []
    const watch = pauseMeter.watch()
    const startTimer: StartTimer = (ms, onTime) =>
      clock.setTimeout(() => {
        const endIfOpen = () => settled.length < healths.length && onTime()
        if (round.pausedMs > 0) void afterReading(endIfOpen)
        else endIfOpen()
      }, ms)
    const onLimit = () => controller.abort(isOwnTimeout(round, quoteTimeoutMs) ? LATE : CANCELLED)
    const timer = startTimer(round.limitMs, onLimit)
    const onCancel = () => controller.abort(CANCELLED)
    const soft =
      softDeadline &&
      new SoftEnd(softDeadline, startTimer, () =>
        controller.abort(isOwnSoftDeadline(round, softDeadline) ? SOFT_DEADLINE : CANCELLED),
      )
    // Rounded down, so that the header never names a time at which the service no longer waits.
    const deadline = Math.floor(clock.now() + round.limitMs)
    const timed = { ...request, solverRequest: { ...request.solverRequest, deadline } }
    try {
      round.begin(healths.length, watch.pausedMs)
      const attempts = healths.map(async (health) => {
        const attempt = await attemptQuote(timed, health, round, controller.signal)
        settled.push(attempt)
        onAttempt?.(attempt)
        if (attempt.result.kind === 'quoted') soft?.countOffer()
      })
      signal?.addEventListener('abort', onCancel)
      if (signal?.aborted) onCancel()
      await Promise.all(attempts)
      return settled
    } finally {
      timer.stop()
      soft?.stop()
      watch.end()
      signal?.removeEventListener('abort', onCancel)
      // Ends what is left of the replies. To abort a signal takes long, and only requests declined over HTTP leave something.
      if (settled.some(({ result }) => 'status' in result)) controller.abort(CANCELLED)
      round.conclude()
    }
  }

  return {
    limitMs({ timeoutMs }, verify) {
      const limit = callersLimit(timeoutMs)
      const reserve = verify === 'off' ? 0 : Math.min(verifyTimeoutMs, limit * VERIFICATION_PART)
      return Math.min(quoteTimeoutMs, limit - reserve)
    },
    collect,
    probe(request, health, client) {
      const options = {
        request: request.request,
        startedAt: clock.monotonic(),
        limitMs: quoteTimeoutMs,
        client,
      }
      // An offer after the soft deadline would have reached no caller, so it must not close the breaker.
      const softDeadline = ownSoftDeadline(quoteSoftTimeoutMs, 0)
      return collect(request, [health], new QuoteRound(options), { softDeadline })
    },
  }
}

/**
 * Whether the solvers that a round cuts off are late: only at the service's own timeout, of which they had nearly all
 * (docs/decisions.md, D14).
 */
export function isOwnTimeout(
  round: Pick<QuoteRound, 'limitMs' | 'waitedMs' | 'pausedMs'>,
  quoteTimeoutMs: number,
): boolean {
  return round.limitMs + round.waitedMs >= quoteTimeoutMs && hadNearlyAll(round, quoteTimeoutMs)
}

/** Whether the solvers that a soft deadline cuts off have lost time: only the instance's own, of which they had nearly all. */
function isOwnSoftDeadline(round: QuoteRound, { afterMs, isOwn }: SoftDeadline): boolean {
  return isOwn && hadNearlyAll(round, afterMs + round.waitedMs)
}

function hadNearlyAll(
  { waitedMs, pausedMs }: Pick<QuoteRound, 'waitedMs' | 'pausedMs'>,
  timeoutMs: number,
): boolean {
  return waitedMs <= timeoutMs * MAX_WAITED_PART && pausedMs <= timeoutMs * MAX_PAUSED_PART
}

/** The soft deadline of QUOTE_SOFT_TIMEOUT_MS; undefined when it is 0. */
export function ownSoftDeadline(afterMs: number, minQuotes = 1): SoftDeadline | undefined {
  return afterMs === 0 ? undefined : { afterMs, minQuotes, isOwn: true }
}

/** Starts a timer of a round. After a pause of the process, what has arrived meanwhile is read before it calls back. */
type StartTimer = (ms: number, onTime: () => void) => Timer

/** Ends a round from its soft deadline on, when there are enough offers. */
class SoftEnd {
  readonly #onEnd: () => void
  readonly #timer: Timer
  #missing: number
  #hasPassed = false

  constructor({ afterMs, minQuotes }: SoftDeadline, startTimer: StartTimer, onEnd: () => void) {
    this.#missing = minQuotes
    this.#onEnd = onEnd
    this.#timer = startTimer(afterMs, () => {
      this.#hasPassed = true
      if (this.#missing <= 0) onEnd()
    })
  }

  countOffer(): void {
    this.#missing--
    if (this.#hasPassed && this.#missing <= 0) this.#onEnd()
  }

  stop(): void {
    this.#timer.stop()
  }
}

/** The caller's own deadline less the time for the way to it, in milliseconds; infinite without a deadline. */
export function callersLimit(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(TRANSPORT_RESERVE_MS, timeoutMs / 5)
}
