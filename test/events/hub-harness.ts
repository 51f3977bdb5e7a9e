import { setImmediate as turn } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'
import { EVERY_EVENT, type EventFilter } from '../../packages/protocol/src/orders/event.js'
import { createCursors } from '../../src/events/cursors.js'
import { createHub } from '../../src/events/hub.js'
import { ReadQueue } from '../../src/events/read-queue.js'
import type { SubscriberOptions, Subscription } from '../../src/events/subscriber.js'
import { manySettled, newBlocks, openToRead } from '../store/events/event-samples.js'
import { createManualClock } from '../support/manual-clock.js'

const ANNOUNCED_AT_MS = 1_800_000_000_000
/** Later than every publication, so that pruning up to this time leaves nothing. */
export const END_OF_TIME = ANNOUNCED_AT_MS + 1

/**
 * A hub over a store in memory. Both close with the test. It has confirmed the cursors of the first ten stored entries and of
 * each hundredth one.
 */
export async function openHub({ stored = 0, isConfirmed = true } = {}) {
  const { store, one, two } = await openToRead(':memory:', () => ANNOUNCED_AT_MS)
  let block = 0

  const digests: string[] = []

  /** Adds events to the store without the hub. */
  async function append(count: number, chainId: number) {
    block++
    const appended = await store.append(
      chainId === 1 ? one : two,
      newBlocks(block, block, manySettled(chainId, block, count)),
    )
    digests.push(...appended.map(({ digest }) => digest))
    return appended
  }

  if (stored > 0) await append(stored, 1)
  const state = await store.readState()
  const cursors = createCursors(state.logId)
  const clock = createManualClock()
  const onSlow = vi.fn<() => void>()
  const readAfter = vi.fn(store.readAfter)
  const readMatching = vi.fn(store.readMatching)
  // The rests of a real queue would last longer than tests that count turns of the event loop.
  const reads = new ReadQueue({ ...clock, sleep: async () => {} })
  const hub = createHub({
    ...state,
    store: { ...store, readAfter, readMatching },
    onEvent() {},
    onSlow,
    reads,
    clock,
  })
  onTestFinished(() => hub.close())
  const subscribe: typeof hub.subscribe = (...parameters) => withoutHang(hub.subscribe(...parameters))
  const cursorAt = (sequence: number) => cursors.write({ sequence, digest: digests[sequence - 1] })
  const isAsked = (sequence: number) => sequence <= 10 || sequence % 100 === 0
  if (isConfirmed) {
    const sequences = Array.from({ length: stored }, (_, index) => index + 1).filter(isAsked)
    await Promise.all(sequences.map((sequence) => hub.confirm(cursorAt(sequence))))
  }

  return {
    hub: { ...hub, subscribe },
    clock,
    store,
    onSlow,
    /** The reads of the store by the hub. */
    readAfter,
    readMatching,
    /** The cursor after an entry, in the hub's form. */
    cursorAt,
    /** The same without the digest, as of the end of a log whose entries the hub was not given. */
    bareCursorAt: (sequence: number) => cursors.write({ sequence, digest: undefined }),
    append,
    async publish(count: number, chainId = 1): Promise<void> {
      hub.publish(await append(count, chainId))
    },
    /** Adds a subscriber that begins after a sequence, or at the end. */
    subscribe(sequence?: number, filter: Partial<EventFilter> = {}, options?: SubscriberOptions) {
      const after = sequence === undefined ? undefined : cursorAt(sequence)
      return subscribe(after, { ...EVERY_EVENT, ...filter }, options)
    },
  }
}

/** Turns of the event loop in which everything that is in memory has come. */
const MAX_TURNS = 10_000

/** A call of `next` fails with the cursor when it still waits after so many turns, so that a lost event is seen at once. */
export function withoutHang(subscription: Subscription): Subscription {
  const next = subscription.next.bind(subscription)
  subscription.next = (until) => {
    const batch = next(until)
    const failing = failUnlessSettled(batch, subscription)
    failing.catch(() => {})
    return failing
  }
  return subscription
}

async function failUnlessSettled<T>(batch: Promise<T>, subscription: Subscription): Promise<T> {
  let isSettled = false
  const settled = batch.finally(() => {
    isSettled = true
  })
  const waiting = (async () => {
    for (let turns = 0; turns < MAX_TURNS && !isSettled; turns++) await turn()
    if (!isSettled) throw new Error(`nothing comes after the cursor ${subscription.cursor()}`)
    return settled
  })()
  waiting.catch(() => {})
  return Promise.race([settled, waiting])
}

/** The sequences of the next events. */
export async function take(subscription: Subscription, count: number): Promise<number[]> {
  const sequences: number[] = []
  while (sequences.length < count) {
    sequences.push(...(await subscription.next()).map(({ sequence }) => sequence))
  }
  return sequences
}

/** Sequences from one to another, both included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Waits until all work has ended that needs neither a timer nor the network. */
export async function settle(turns = 20): Promise<void> {
  for (let left = turns; left > 0; left--) await turn()
}

/** The state of a promise: its value, its error, or `waiting`. */
export async function now<T>(promise: Promise<T>): Promise<T | 'waiting'> {
  promise.catch(() => {})
  return Promise.race([promise, settle().then(() => 'waiting' as const)])
}
