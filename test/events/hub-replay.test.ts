import { describe, expect, test } from 'vitest'
import { EVERY_EVENT, type EventFilter } from '../../packages/protocol/src/orders/event.js'
import { EARLIEST } from '../../src/events/hub.js'
import type { Subscription } from '../../src/events/subscriber.js'
import type { Batch } from '../../src/events/tail-buffer.js'
import { pruneAll } from '../store/events/event-samples.js'
import { END_OF_TIME, now, openHub, range, settle, take } from './hub-harness.js'

const CURSOR_UNKNOWN = expect.objectContaining({ reason: 'CURSOR_UNKNOWN', httpStatus: 400 })
/** More than is kept in memory. */
const LONG = 9500

async function takeBatches(subscription: Subscription, count: number): Promise<Batch[]> {
  const batches: Batch[] = []
  for (let taken = 0; taken < count; taken += batches.at(-1)?.length ?? 0) {
    batches.push(await subscription.next())
  }
  return batches
}

const sequencesOf = (batches: readonly Batch[]) => batches.flat().map(({ sequence }) => sequence)

describe('a subscriber with a cursor', () => {
  test('gets all later events, wherever it begins', async () => {
    const { hub, subscribe, publish, cursorAt } = await openHub({ stored: 700 })
    await publish(500)
    await publish(1)
    const begins = [0, 1, 499, 500, 501, 999, 1000, 1200]
    const subscriptions: [number, Subscription][] = []
    for (const after of begins) {
      await hub.confirm(cursorAt(after))
      const subscription = subscribe(after)
      subscriptions.push([after, subscription])
      expect(await take(subscription, 1201 - after)).toEqual(range(after + 1, 1201))
    }
    await publish(2)
    for (const [after, subscription] of subscriptions)
      expect(await take(subscription, 2), `after ${after}`).toEqual([1202, 1203])
  })

  test('gets more than is kept in memory, in batches of at most 100', async () => {
    const { subscribe, publish, readAfter } = await openHub()
    await publish(3000)
    await publish(LONG - 3000)
    const batches = await takeBatches(subscribe(0), LONG)
    expect(sequencesOf(batches)).toEqual(range(1, LONG))
    expect(batches.map(({ length }) => length)).toEqual(range(1, LONG / 100).map(() => 100))
    expect(readAfter.mock.calls).toEqual(range(0, 13).map((page) => [page * 100, 100]))
  })
})

describe('a subscriber from the earliest event', () => {
  /** A log that another process has pruned: the hub still has its old beginning. */
  async function openPruned() {
    const opened = await openHub({ stored: LONG })
    await pruneAll(opened.store, END_OF_TIME)
    await opened.append(150, 1)
    return opened
  }

  test.each([
    ['all events', EVERY_EVENT],
    ['events of a filter', { ...EVERY_EVENT, types: new Set(['Settled'] as const) }],
  ])('gets %s that the log still has when its beginning was removed meanwhile', async (_, filter) => {
    const { hub, store } = await openPruned()
    const subscription = hub.subscribe(EARLIEST, filter)
    hub.publish(await store.readAfter(LONG, 1000))
    expect(await take(subscription, 150)).toEqual(range(LONG + 1, LONG + 150))
    const again = hub.subscribe(EARLIEST, filter)
    expect(again.cursor()).not.toBe(hub.subscribe(undefined, filter).cursor())
    expect(await take(again, 150)).toEqual(range(LONG + 1, LONG + 150))
  })

  test('ends with CURSOR_UNKNOWN when events after those that it has got were removed', async () => {
    const { hub, store } = await openHub({ stored: LONG })
    const subscription = hub.subscribe(EARLIEST, EVERY_EVENT)
    expect(await take(subscription, 100)).toEqual(range(1, 100))
    await pruneAll(store, END_OF_TIME)
    await expect(take(subscription, LONG)).rejects.toEqual(CURSOR_UNKNOWN)
  })
})

describe('batches', () => {
  test('of a publication have at most 100 entries', async () => {
    const { subscribe, publish } = await openHub()
    const subscription = subscribe()
    await publish(234)
    const batches = await takeBatches(subscription, 234)
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 34])
    expect(sequencesOf(batches)).toEqual(range(1, 234))
  })
})

describe('a filter', () => {
  const filters: [string, Partial<EventFilter>, number[]][] = [
    ['of chains', { chainIds: new Set([2]) }, [3, 4, 7, 8]],
    ['of types that do not come', { types: new Set(['Deposited'] as const) }, []],
    ['of several kinds', { chainIds: new Set([1]), users: new Set(['0xa120b0', '0xa230b0'] as const) }, [2]],
  ]

  test.each(filters)('%s passes the right events, stored and live', async (_what, filter, expected) => {
    const { subscribe, publish } = await openHub({ stored: 1 })
    const subscriptions = [subscribe(0, filter)]
    await publish(1, 1)
    await publish(2, 2)
    subscriptions.push(subscribe(0, filter))
    const waiting = subscriptions.map((subscription) => take(subscription, expected.length))
    await publish(1, 3)
    await publish(1, 3)
    await publish(2, 2)
    for (const taken of waiting) expect(await now(taken)).toEqual(expected)
    for (const subscription of subscriptions) expect(await now(subscription.next())).toBe('waiting')
  })

  test('that few events pass finds them far back in the store', async () => {
    const { subscribe, publish } = await openHub()
    await publish(1000)
    await publish(1, 2)
    await publish(LONG)
    expect(await take(subscribe(0, { chainIds: new Set([2]) }), 1)).toEqual([1001])
  })

  test('moves the cursor past events that do not pass', async () => {
    const { subscribe, publish, cursorAt } = await openHub({ stored: 700 })
    const subscription = subscribe(0, { chainIds: new Set([2]) })
    const next = subscription.next()
    await settle()
    expect(subscription.cursor()).toBe(cursorAt(700))
    await publish(5)
    await settle()
    expect(subscription.cursor()).toBe(cursorAt(705))
    await publish(1, 2)
    expect(await next).toMatchObject([{ sequence: 706 }])
  })
})

describe('pruning', () => {
  test('ends a replaying subscriber whose position it removes', async () => {
    const { hub, store, subscribe } = await openHub({ stored: 1200 })
    const subscription = subscribe(0)
    expect(await take(subscription, 500)).toEqual(range(1, 500))
    hub.pruneThrough(await pruneAll(store, END_OF_TIME))
    await expect(subscription.next()).rejects.toEqual(CURSOR_UNKNOWN)
    expect(subscription.ended.reason).toEqual(CURSOR_UNKNOWN)
    await expect(subscription.next()).rejects.toEqual(CURSOR_UNKNOWN)
  })

  test('does not affect subscribers at later positions, or with entries in memory', async () => {
    const { hub, store, subscribe, publish } = await openHub({ stored: 10 })
    const [ahead, inMemory] = [subscribe(10), subscribe()]
    await publish(3)
    hub.pruneThrough(await pruneAll(store, END_OF_TIME))
    expect(await take(ahead, 3)).toEqual([11, 12, 13])
    expect(await take(inMemory, 3)).toEqual([11, 12, 13])
  })
})
