import type { ClientId } from '../clients/client-id.js'
import { FairQueue } from '../concurrency/fair-queue.js'
import { StartPace } from './start-pace.js'

/** Work that starts when its turn has come. */
export interface QueuedStart {
  readonly client: ClientId
  /** When it was requested, on the clock of the queue. */
  readonly requestedAt: number
  /** Milliseconds from the request until it is late. */
  readonly limitMs: number
  /** Ends its wait. */
  readonly signal: AbortSignal
  /** Starts the work. Called at most once. */
  start(): void
  /** Called instead of `start` when the work cannot start in time, with the milliseconds until there is time for it. */
  refuse(retryMs: number): void
  /** Called instead of `start` when its signal has ended the wait. */
  leave(): void
}

/**
 * Starts work in slices of the event loop's turns. So the loop's turns stay short, however much work comes at once. Work that
 * cannot start in time is refused when it comes.
 */
export interface StartQueue {
  /** Starts, queues or refuses this work. */
  add(work: QueuedStart): void
}

interface StartQueueOptions {
  /** Milliseconds that never go back. */
  readonly clock: () => number
  /** Calls back in the next turn of the event loop, after what has arrived until then was read. */
  readonly onNextTurn?: (run: () => void) => unknown
}

/** The time for starting work in one turn of the event loop. The less starts at once, the earlier it ends, and the less is in memory. */
const SLICE_MS = 2
/** The part of its limit for which work is allowed to wait. Solvers need the other half. */
const MAX_WAIT_PART = 1 / 2
/** The part of its limit after which work no longer starts, as it has waited longer than expected. */
const LATEST_START_PART = 3 / 4
/** The longest time until refused work is asked to come again. */
const MAX_RETRY_MS = 10_000

interface Waiter {
  readonly client: ClientId
  readonly work: QueuedStart
  readonly onAbort: () => void
}

/** Builds the queue. Each network and each client gets equal turns, so that a long queue of one delays only itself. */
export function createStartQueue({ clock, onNextTurn = setImmediate }: StartQueueOptions): StartQueue {
  const queue = new FairQueue<Waiter>()
  const pace = new StartPace()
  /** When the slice of this turn began; undefined when nothing has started since the last turn. */
  let sliceStart: number | undefined
  /** How many have started in the slice. */
  let started = 0
  /** Whether more work waited than the slice had time for. */
  let isFull = false
  /** When the pace was last brought up to date. */
  let pacedAt = clock()
  /** When the work that was refused last is asked to come again. */
  let retryAt = Number.NEGATIVE_INFINITY

  /** Spreads what is refused over the time after the wait, so that it does not all come again at once and is refused again. */
  function refuse(work: QueuedStart, expectedMs: number): void {
    const now = clock()
    const next = Math.max(retryAt, now + expectedMs) + pace.msPerStart
    retryAt = Math.min(next, now + MAX_RETRY_MS)
    work.refuse(retryAt - now)
  }

  function hasTime(): boolean {
    const now = clock()
    if (sliceStart === undefined) {
      if (!isFull) pace.forget(now - pacedAt)
      pacedAt = now
      sliceStart = now
      started = 0
      onNextTurn(nextSlice)
    }
    return now - sliceStart < SLICE_MS
  }

  function nextSlice(): void {
    const now = clock()
    if (isFull && sliceStart !== undefined) pace.add(started, now - sliceStart)
    sliceStart = undefined
    while (queue.size > 0 && hasTime()) startNext()
    isFull = queue.size > 0
  }

  function startNext(): void {
    const waiter = queue.take(() => true)
    if (waiter === undefined) return
    const { work, onAbort } = waiter
    work.signal.removeEventListener('abort', onAbort)
    start(work)
  }

  function start(work: QueuedStart): void {
    const waitedMs = clock() - work.requestedAt
    if (waitedMs > work.limitMs * LATEST_START_PART) refuse(work, queue.size * pace.msPerStart)
    else {
      started++
      work.start()
    }
  }

  function enqueue(work: QueuedStart): void {
    const onAbort = () => {
      queue.delete(waiter)
      work.leave()
    }
    const waiter: Waiter = { client: work.client, work, onAbort }
    queue.add(waiter)
    work.signal.addEventListener('abort', onAbort)
  }

  return {
    add(work) {
      if (work.signal.aborted) return work.leave()
      if (queue.size === 0 && hasTime()) return start(work)
      const expectedMs = queue.countBefore(work.client) * pace.msPerStart
      const leftMs = work.limitMs - (clock() - work.requestedAt)
      if (expectedMs > leftMs * MAX_WAIT_PART) refuse(work, expectedMs)
      else enqueue(work)
    },
  }
}
