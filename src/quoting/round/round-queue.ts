import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { Chain } from '../../chain/chain.js'
import type { ClientId } from '../../clients/client-id.js'
import { FairQueue } from '../../concurrency/fair-queue.js'
import type { Aggregator, RoundOptions, RoundResult } from './aggregator.js'
import type { FanOut } from './fan-out.js'
import type { QuoteIds } from './quote-ids.js'
import type { RoundErrors } from './round-errors.js'
import { RoundProgress, type RoundReports } from './round-reports.js'

interface QueuedAggregatorOptions {
  readonly aggregator: Aggregator
  readonly chains: ReadonlyMap<number, Pick<Chain, 'wake'>>
  readonly clock: Pick<Clock, 'monotonic'>
  readonly fanOut: Pick<FanOut, 'limitMs'>
  readonly quoteIds: Pick<QuoteIds, 'create'>
  readonly reports: Pick<RoundReports, 'onUnstarted'>
  readonly roundErrors: Pick<RoundErrors, 'overloaded' | 'noOffer'>
}

/**
 * Lets rounds begin through the queue. A round that cannot begin in time asks no solver, and has the error SOLVERS_BUSY
 * (docs/decisions.md, D14).
 */
export function createQueuedAggregator(options: QueuedAggregatorOptions): Aggregator {
  const { aggregator, fanOut, quoteIds, reports, roundErrors } = options
  const { chains, clock } = options
  const startQueue = createStartQueue({ clock: clock.monotonic })

  function unstarted(error: RoundResult['error'], quoteId: string): RoundResult {
    return { quoteId, offers: [], counts: NOTHING_ASKED, error }
  }

  return {
    ...aggregator,
    async runRound(request, caller, roundOptions = {}) {
      const { chainId } = request
      const requestedAt = clock.monotonic()
      // The bonds and nonces of the first round after a time without demand are those of this moment (docs/decisions.md, D13).
      const waking = chains.get(chainId)?.wake()
      await waking
      const wokenMs = waking === undefined ? 0 : clock.monotonic() - requestedAt
      return new Promise((resolve) => {
        startQueue.add({
          client: caller.client,
          limitMs: fanOut.limitMs(caller, roundOptions.verify ?? 'off'),
          signal: caller.signal,
          start: (waitedMs) =>
            resolve(aggregator.runRound(request, caller, after(wokenMs + waitedMs, roundOptions))),
          refuse(retryMs) {
            reports.onUnstarted(request, 'overloaded')
            resolve(unstarted(roundErrors.overloaded(chainId, retryMs), quoteIds.create()))
          },
          leave() {
            reports.onUnstarted(request, 'cancelled')
            const quoteId = quoteIds.create()
            resolve(unstarted(roundErrors.noOffer(chainId, quoteId, []), quoteId))
          },
        })
      })
    },
  }
}

/** The options of a round that has waited. Its soft deadline counts from the request. */
function after(waitedMs: number, { softDeadline, ...others }: RoundOptions): RoundOptions {
  if (softDeadline === undefined) return { ...others, waitedMs }
  const afterMs = Math.max(1, softDeadline.afterMs - waitedMs)
  return { ...others, waitedMs, softDeadline: { ...softDeadline, afterMs } }
}

const NOTHING_ASKED = new RoundProgress(0, () => {}).counts

/** Work that starts when its turn has come. */
interface QueuedStart {
  readonly client: ClientId
  /** Milliseconds from now until it is late. */
  readonly limitMs: number
  /** Ends its wait. */
  readonly signal: AbortSignal
  /** Starts the work. Called at most once, with the milliseconds that it has waited. */
  start(waitedMs: number): void
  /** Called instead of `start` when the work cannot start in time, with the milliseconds until there is time for it. */
  refuse(retryMs: number): void
  /** Called instead of `start` when its signal has ended the wait. */
  leave(): void
}

/**
 * Starts work in slices of the event loop's turns. So the loop's turns stay short, however much work comes at once. Work that
 * cannot start in time is refused when it comes.
 */
interface StartQueue {
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
  readonly addedAt: number
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
    const { work, addedAt, onAbort } = waiter
    work.signal.removeEventListener('abort', onAbort)
    const waitedMs = clock() - addedAt
    if (waitedMs > work.limitMs * LATEST_START_PART) refuse(work, queue.size * pace.msPerStart)
    else {
      started++
      work.start(waitedMs)
    }
  }

  function enqueue(work: QueuedStart): void {
    const onAbort = () => {
      queue.delete(waiter)
      work.leave()
    }
    const waiter: Waiter = { client: work.client, addedAt: clock(), work, onAbort }
    queue.add(waiter)
    work.signal.addEventListener('abort', onAbort)
  }

  return {
    add(work) {
      if (work.signal.aborted) return work.leave()
      if (queue.size === 0 && hasTime()) {
        started++
        return work.start(0)
      }
      const expectedMs = queue.countBefore(work.client) * pace.msPerStart
      if (expectedMs > work.limitMs * MAX_WAIT_PART) refuse(work, expectedMs)
      else enqueue(work)
    },
  }
}

/** The time over which the pace is averaged, so that one slow turn changes it little. */
const AVERAGED_MS = 1000
/** A longer turn counts as one of this length: the process may have been stopped meanwhile. */
const LONGEST_TURN_MS = 200
/** Until there is a queue. */
const USUAL_MS_PER_START = 1

/** How fast work starts while other work waits. What else the process does slows it down. */
class StartPace {
  #started = AVERAGED_MS / USUAL_MS_PER_START
  #tookMs = AVERAGED_MS

  /** Adds a turn. */
  add(started: number, turnMs: number): void {
    const tookMs = Math.min(turnMs, LONGEST_TURN_MS)
    const kept = Math.exp(-tookMs / AVERAGED_MS)
    this.#started = this.#started * kept + started
    this.#tookMs = this.#tookMs * kept + tookMs
  }

  /** Forgets in a time without a queue, in which nothing was measured. An old pace must not keep the queue too short to measure. */
  forget(ms: number): void {
    const kept = Math.exp(-ms / AVERAGED_MS)
    this.#started = this.#started * kept + (1 - kept) * (AVERAGED_MS / USUAL_MS_PER_START)
    this.#tookMs = this.#tookMs * kept + (1 - kept) * AVERAGED_MS
  }

  get msPerStart(): number {
    return this.#tookMs / Math.max(1, this.#started)
  }
}
