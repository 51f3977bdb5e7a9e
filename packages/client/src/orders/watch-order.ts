import { untilReturned } from '../calls/abort.js'
import { AggregatorError } from '../calls/aggregator-error.js'
import { check } from '../calls/check-arguments.js'
import { isRetryable, LONGEST_TIMER_MS, pause, retryDelay } from '../calls/retry-delay.js'
import type { Notice, StreamOptions } from '../events/follow-events.js'
import type { KnownOrder, Order } from './read-order.js'

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
const LONGEST_WAIT_MS = 600_000

/**
 * Reads the order at the start and after each event, so that each state is the contract's own answer, and two changes at once are
 * one. It polls each time that the stream cannot be had, because of a limit, a gateway that blocks it or a lost connection.
 *
 * The state is that of the head, but events wait for confirmations. When a reorganisation removes a block whose events are not
 * published yet, no event says so, nor when a deployed contract gives a transfer back by `deployAndRecover`. Therefore each state is
 * read again after 30 s, 60 s, and so on up to every ten minutes. The watch ends only with such a read.
 */
export function watchOrder(
  { read, follow }: OrderSource,
  options: WatchOrderOptions,
): AsyncIterableIterator<Order> {
  return untilReturned(options, async function* (ending) {
    const { finalAfterMs = FINAL_AFTER_MS, onLost } = options
    check({ finalAfterMs: finalAfterProblem(finalAfterMs) })
    const { signal } = ending
    const notices = follow({ signal, onLost })
    const hasEnd = (order: Order) => isFinal(order) && Number.isFinite(finalAfterMs)
    let last: Order | undefined
    let notice: Promise<IteratorResult<Notice, void>> | undefined
    /** Resolves when the last state has lasted for a while. Undefined when that was noticed. */
    let lasted: Promise<'lasted'> | undefined
    let waitMs = FINAL_AFTER_MS

    /** @returns undefined at the end */
    async function next(): Promise<Notice['type'] | 'lasted' | undefined> {
      notice ??= notices.next()
      const first = await Promise.race([notice, lasted ?? notice])
      if (first === 'lasted') lasted = undefined
      else notice = undefined
      return first === 'lasted' ? first : first.value?.type
    }

    /** @returns undefined after the signal, and when only the next notice may help @throws AggregatorError that another attempt cannot mend */
    async function readAfter(type: Notice['type'] | 'lasted'): Promise<Order | undefined> {
      for (let failures = 0; !signal.aborted; failures++) {
        try {
          return await read(signal)
        } catch (thrown) {
          if (signal.aborted) return undefined
          if (!(thrown instanceof AggregatorError && isRetryable(thrown))) throw thrown
          // The next attempt to open a stream is another notice.
          if (type === 'disconnected') return undefined
          onLost?.(thrown)
          await pause(retryDelay(failures, thrown), signal)
        }
      }
      return undefined
    }

    try {
      for (let type: Awaited<ReturnType<typeof next>> = 'disconnected'; type; type = await next()) {
        const order = await readAfter(type)
        if (signal.aborted) return
        if (order === undefined) continue
        const isSame = order.state === last?.state
        if (isSame && type !== 'lasted') continue
        if (isSame && hasEnd(order)) return
        const firstMs = hasEnd(order) ? finalAfterMs : FINAL_AFTER_MS
        waitMs = isSame ? Math.min(2 * waitMs, LONGEST_WAIT_MS) : firstMs
        lasted = pause(waitMs, signal).then(() => 'lasted')
        if (isSame) continue
        last = order
        yield order
        if (hasEnd(order) && !finalAfterMs) return
      }
    } finally {
      // Before the return, which waits for the next notice.
      ending.abort()
      await notices.return()
    }
  })
}

function finalAfterProblem(value: unknown): string | undefined {
  const isShort = typeof value === 'number' && value >= 0 && value <= LONGEST_TIMER_MS
  if (isShort || value === Number.POSITIVE_INFINITY) return undefined
  return `must be a number of milliseconds of 0 to ${LONGEST_TIMER_MS}, or Infinity`
}

/** Whether only a reorganisation can change the order's state. */
export function isFinal(order: Order): order is KnownOrder {
  return order.state === 'SETTLED' || order.state === 'REFUNDED'
}
