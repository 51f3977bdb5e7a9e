import { linkSignal } from '../calls/abort.js'
import { AggregatorError } from '../calls/aggregator-error.js'
import { check } from '../calls/check-arguments.js'
import { isRetryable, LONGEST_TIMER_MS, pause, retryDelay } from '../calls/retry-delay.js'
import type { Notice, StreamOptions } from '../events/follow-events.js'
import type { Order } from './read-order.js'

export interface WatchOrderOptions extends Pick<StreamOptions, 'signal' | 'onLost'> {
  /**
   * How long SETTLED or REFUNDED must last before the watch ends, in milliseconds, up to 2147483647. 30000 when left out, more
   * than two blocks of the slowest chains. The watch reads the order once more before it ends. At 0 it ends at once, with
   * `Infinity` only by the signal.
   */
  readonly finalAfterMs?: number | undefined
}

/** An order of an instance. */
export interface OrderSource {
  readonly follow: (options: StreamOptions) => AsyncGenerator<Notice, void, void>
  readonly read: (signal: AbortSignal) => Promise<Order>
}

const FINAL_AFTER_MS = 30_000

/**
 * Reads the order at the start and after each event, so that each state is the contract's own answer, and two changes at once are
 * one. It polls each time that the stream cannot be had, because of a limit, a gateway that blocks it or a lost connection.
 *
 * The state is that of the head, but events wait for confirmations. When a reorganisation removes a block whose events are not
 * published yet, no event says so. Therefore each state is read once more after a while, and the watch ends only with that read.
 * @param ending ends the watch
 */
export async function* watchOrder(
  source: OrderSource,
  options: WatchOrderOptions,
  ending = new AbortController(),
): AsyncGenerator<Order, void, void> {
  const { finalAfterMs = FINAL_AFTER_MS, onLost } = options
  check({ finalAfterMs: finalAfterProblem(finalAfterMs) })
  const unlink = linkSignal(options.signal, ending)
  const { signal } = ending
  const timer = createTimer()
  const hasEnd = (order: Order) => isFinal(order) && finalAfterMs !== Number.POSITIVE_INFINITY
  let last: Order | undefined
  try {
    for await (const type of noticesAndTimer(fromStart(source, { signal, onLost }), timer, ending)) {
      const order = await (type === 'disconnected'
        ? readOnce(source, signal)
        : readPersistently(source, signal, onLost))
      if (signal.aborted) return
      if (order === undefined) continue
      if (order.state === last?.state) {
        if (type === 'timer' && hasEnd(order)) return
        continue
      }
      last = order
      timer.set(hasEnd(order) ? finalAfterMs : FINAL_AFTER_MS)
      yield order
      if (isFinal(order) && finalAfterMs === 0) return
    }
  } finally {
    timer.clear()
    unlink()
    ending.abort()
  }
}

async function* fromStart(source: OrderSource, options: StreamOptions): AsyncGenerator<Notice, void, void> {
  yield { type: 'disconnected' }
  yield* source.follow(options)
}

interface Timer {
  /** Resolves once the time is over. Undefined before `set` and after `clear`. */
  readonly over: () => Promise<'timer'> | undefined
  readonly set: (ms: number) => void
  readonly clear: () => void
}

function createTimer(): Timer {
  let over: Promise<'timer'> | undefined
  let timeout: ReturnType<typeof setTimeout> | undefined
  const clear = () => {
    clearTimeout(timeout)
    over = undefined
  }
  return {
    over: () => over,
    set(ms) {
      clear()
      over = new Promise((resolve) => {
        timeout = setTimeout(() => resolve('timer'), ms)
      })
    },
    clear,
  }
}

/** The types of the notices, and `timer` when the time is over. @param ending is aborted at the end */
async function* noticesAndTimer(
  notices: AsyncGenerator<Notice, void, void>,
  timer: Timer,
  ending: AbortController,
): AsyncGenerator<Notice['type'] | 'timer', void, void> {
  let next: Promise<IteratorResult<Notice, void>> | undefined
  try {
    for (;;) {
      next ??= notices.next()
      const first = await Promise.race([next, timer.over() ?? next])
      if (first === 'timer') {
        timer.clear()
        yield first
      } else if (first.done) return
      else {
        next = undefined
        yield first.value.type
      }
    }
  } finally {
    // Before the return, which waits for the next notice.
    ending.abort()
    await notices.return()
  }
}

function finalAfterProblem(value: unknown): string | undefined {
  const isRight =
    typeof value === 'number' &&
    value >= 0 &&
    (value <= LONGEST_TIMER_MS || value === Number.POSITIVE_INFINITY)
  return isRight ? undefined : `must be a number of milliseconds of 0 to ${LONGEST_TIMER_MS}, or Infinity`
}

/** Whether only a reorganisation can change the order's state. */
export function isFinal({ state }: Order): boolean {
  return state === 'SETTLED' || state === 'REFUNDED'
}

/** @returns undefined when another attempt may succeed @throws AggregatorError that another attempt cannot mend */
async function readOnce({ read }: OrderSource, signal: AbortSignal): Promise<Order | undefined> {
  try {
    return await read(signal)
  } catch (thrown) {
    if (signal.aborted || isRetryable(thrown)) return undefined
    throw thrown
  }
}

/** @returns undefined after the signal @throws AggregatorError that another attempt cannot mend */
async function readPersistently(
  { read }: OrderSource,
  signal: AbortSignal,
  onLost: StreamOptions['onLost'],
): Promise<Order | undefined> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await read(signal)
    } catch (thrown) {
      if (signal.aborted) return undefined
      if (!(thrown instanceof AggregatorError && isRetryable(thrown))) throw thrown
      onLost?.(thrown)
      await pause(retryDelay(failures, thrown), signal)
    }
  }
  return undefined
}
