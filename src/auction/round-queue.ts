import type { Clock } from '../../packages/protocol/src/clock.js'
import type { VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import type { CallSignal } from '../clients/call.js'
import type { ClientId } from '../clients/client-id.js'
import { FairQueue } from '../concurrency/fair-queue.js'
import type { Config } from '../config/config.js'

/**
 * The part of a caller's deadline that is reserved for the way of the request and of its response; at most a fifth of the
 * deadline. The caller's time begins before the request arrives. A round trip between continents takes that long, and so
 * does a busy machine.
 */
const TRANSPORT_RESERVE_MS = 250
/**
 * The longest part of a caller's deadline that is reserved for the checks of the settlement contract. Without it, one solver
 * that is silent would leave no time for them.
 */
const VERIFICATION_PART = 1 / 4
/**
 * The time for starting rounds in one turn of the event loop. The less starts at once, the earlier it ends, and the less is
 * in memory.
 */
const SLICE_MS = 2

/** How long a round may take for its caller. Times are milliseconds from the request. */
export interface RoundLimits {
  /** When the request came, on the clock of standings. */
  readonly requestedAt: number
  /** The latest answer. */
  readonly limitMs: number
  /** The caller's own deadline less the time for the way to it; infinite without a deadline. */
  readonly callersLimitMs: number
}

/**
 * The limits of a round: QUOTE_TIMEOUT_MS, or the caller's shorter deadline, less the time in which the contract checks the
 * offers.
 */
export function limitsOf(
  timeoutMs = Number.POSITIVE_INFINITY,
  verify: VerifyMode,
  { quoteTimeoutMs, verifyTimeoutMs }: Config,
  requestedAt: number,
): RoundLimits {
  const callersLimitMs = timeoutMs - Math.min(TRANSPORT_RESERVE_MS, timeoutMs / 5)
  const reserve = verify === 'off' ? 0 : Math.min(verifyTimeoutMs, callersLimitMs * VERIFICATION_PART)
  return { requestedAt, limitMs: Math.min(quoteTimeoutMs, callersLimitMs - reserve), callersLimitMs }
}

/** Why work does not start: it would be too late, or its caller has left. */
type Refusal = 'overloaded' | 'cancelled'

/** Work that starts when its turn has come. */
interface QueuedStart {
  readonly client: ClientId
  /** When it is too late to start, on the clock of the queue. */
  readonly latestAt: number
  /** Ends its wait. */
  readonly signal: CallSignal
  /** Starts the work. Called at most once. */
  start(): void
  /** Called instead of `start`. */
  refuse(why: Refusal): void
}

/**
 * Starts work in slices of the event loop's turns. So the loop's turns stay short, however much work comes at once. Each
 * network and each client gets equal turns, so that a long queue of one delays only itself.
 * @param onNextTurn calls back in the next turn of the event loop, after what has arrived until then was read
 */
export function createStartQueue(clock: Clock, onNextTurn: (run: () => void) => unknown = setImmediate) {
  const queue = new FairQueue<{ readonly client: ClientId; start(): void }>()
  /** When the slice of this turn began; undefined when nothing has started since the last turn. */
  let sliceStart: number | undefined

  function hasTime(): boolean {
    const now = clock.monotonic()
    if (sliceStart === undefined) {
      sliceStart = now
      onNextTurn(nextSlice)
    }
    return now - sliceStart < SLICE_MS
  }

  function nextSlice(): void {
    sliceStart = undefined
    while (queue.size > 0 && hasTime()) queue.take(() => true)?.start()
  }

  function enqueue({ client, latestAt, signal, start, refuse }: QueuedStart): void {
    const end = (then: () => void) => {
      queue.delete(waiter)
      timer.stop()
      signal.removeEventListener('abort', onAbort)
      then()
    }
    const waiter = { client, start: () => end(start) }
    const onAbort = () => end(() => refuse('cancelled'))
    const timer = clock.setTimeout(() => end(() => refuse('overloaded')), latestAt - clock.monotonic())
    queue.add(waiter)
    signal.addEventListener('abort', onAbort)
  }

  return {
    /** Starts, queues or refuses this work. */
    add(work: QueuedStart): void {
      if (work.signal.aborted) work.refuse('cancelled')
      else if (clock.monotonic() > work.latestAt) work.refuse('overloaded')
      else if (queue.size === 0 && hasTime()) work.start()
      else enqueue(work)
    },
  }
}
