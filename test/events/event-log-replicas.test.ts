import { describe, expect, test, vi } from 'vitest'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import { EVERY_EVENT } from '../../packages/protocol/src/orders/event.js'
import type { EventStore } from '../../src/store/events/event-store.js'
import { manySettled, newBlocks } from '../store/events/event-samples.js'
import { openLog } from './event-log-harness.js'
import { now, range, settle, take } from './hub-harness.js'

const CURSOR_UNKNOWN = expect.objectContaining({ reason: 'CURSOR_UNKNOWN' })

describe('an event that another replica writes', () => {
  /** Two replicas of one log. The second one receives no messages. */
  async function openTwo() {
    const readAfter = vi.fn<EventStore['readAfter']>()
    const here = await openLog((store) => ({ readAfter: readAfter.mockImplementation(store.readAfter) }))
    const elsewhere = await here.open()
    await now(settle())
    readAfter.mockClear()
    return { ...here, elsewhere, readAfter }
  }

  test('is published before later events of this replica, and is read from the store once', async () => {
    const { eventLog, elsewhere, readAfter } = await openTwo()
    const subscriptions = range(1, 3).map(() => eventLog.subscribe(undefined, EVERY_EVENT))
    const taken = subscriptions.map((subscription) => take(subscription, 4))
    await elsewhere.eventSink(1).append(newBlocks(12, 12, manySettled(1, 12, 2)))
    await eventLog.eventSink(2).open()
    await eventLog.eventSink(2).append(newBlocks(12, 12, manySettled(2, 12, 2)))
    for (const sequences of await Promise.all(taken)) expect(sequences).toEqual([2, 3, 4, 5])
    expect(readAfter).toHaveBeenCalledTimes(1)
  })

  test('is published when a client sends a cursor of the other replica', async () => {
    const { eventLog, elsewhere, cursorAt } = await openTwo()
    await elsewhere.eventSink(1).append(newBlocks(12, 12, manySettled(1, 12, 2)))
    expect(eventLog.waitForCursor(await cursorAt(1))).toBeUndefined()
    expect(eventLog.waitForCursor(undefined)).toBeUndefined()
    expect(eventLog.waitForCursor('nonsense')).toBeUndefined()
    await eventLog.waitForCursor(await cursorAt(2))
    const subscription = eventLog.subscribe(await cursorAt(2), EVERY_EVENT)
    expect(await take(subscription, 1)).toEqual([3])
  })

  test('is not published when it does not exist: the cursor is unknown', async () => {
    const { eventLog, cursorAt } = await openTwo()
    const unknown = await cursorAt(9)
    await eventLog.waitForCursor(unknown)
    expect(() => eventLog.subscribe(unknown, EVERY_EVENT)).toThrow(CURSOR_UNKNOWN)
  })
})

describe('while the database is down', () => {
  const away = new ServiceError('DATABASE_UNAVAILABLE', 'Away.')

  /** A log whose store the test can stop. */
  async function openFlaky() {
    let isConnectionError = false
    const change = (store: EventStore): Partial<EventStore> => ({
      readAfter: (...args) => (isConnectionError ? Promise.reject(away) : store.readAfter(...args)),
    })
    // The first of two events is not in memory.
    const opened = await openLog(change, undefined, 2)
    const setAway = (value: boolean) => {
      isConnectionError = value
    }
    return { ...opened, setAway }
  }

  test('a subscriber gets empty batches, and continues when the database is up again', async () => {
    const { clock, eventLog, setAway, beginning } = await openFlaky()
    setAway(true)
    const subscription = eventLog.subscribe(beginning, EVERY_EVENT)
    const first = subscription.next()
    await clock.advance(14_000)
    expect(await now(first)).toBe('waiting')
    await clock.advance(2000)
    expect(await now(first)).toEqual([])
    const second = subscription.next()
    await clock.advance(5000)
    setAway(false)
    await clock.advance(1000)
    expect(await now(second)).toMatchObject([{ sequence: 1 }, { sequence: 2 }])
  })

  test('a cursor of another replica is rejected with a retryable error', async () => {
    const { eventLog, setAway, cursorAt } = await openFlaky()
    setAway(true)
    await expect(eventLog.waitForCursor(await cursorAt(3))).rejects.toBe(away)
  })
})
