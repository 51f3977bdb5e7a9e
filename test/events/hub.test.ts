import { describe, expect, test } from 'vitest'
import { EVERY_EVENT } from '../../packages/protocol/src/orders/event.js'
import { createCursors } from '../../src/events/cursors.js'
import { now, openHub, range, settle, take } from './hub-harness.js'

describe('a subscriber', () => {
  test('gets events that are published from now on, once and in order', async () => {
    const { subscribe, publish } = await openHub({ stored: 3 })
    const subscription = subscribe()
    await publish(2)
    expect(await take(subscription, 2)).toEqual([4, 5])
    await publish(1)
    await publish(1)
    expect(await take(subscription, 2)).toEqual([6, 7])
    expect(await now(subscription.next())).toBe('waiting')
  })

  test('misses no event that is published just before it waits', async () => {
    const { hub, subscribe, append } = await openHub()
    const logEntries = await append(1, 1)
    const next = subscribe().next()
    hub.publish(logEntries)
    expect(await now(next)).toMatchObject([{ sequence: 1 }])
  })

  test.each([63, 64, 65, 300])('is one of %d that wait, and all of them get an event', async (count) => {
    const { subscribe, publish } = await openHub()
    const waiting = range(1, count).map(() => subscribe().next())
    await settle()
    await publish(1)
    for (const batch of await Promise.all(waiting)) expect(batch).toMatchObject([{ sequence: 1 }])
  })

  test('has a cursor', async () => {
    const { subscribe, publish, cursorAt, bareCursorAt } = await openHub({ stored: 4 })
    const [live, replaying] = [subscribe(), subscribe(1)]
    expect([live.cursor(), replaying.cursor()]).toEqual([bareCursorAt(4), cursorAt(1)])
    await replaying.next()
    await publish(2)
    expect([live.cursor(), replaying.cursor()]).toEqual([bareCursorAt(4), cursorAt(4)])
    await Promise.all([live.next(), replaying.next()])
    expect([live.cursor(), replaying.cursor()]).toEqual([cursorAt(6), cursorAt(6)])
  })
})

describe('a cursor is unknown when it', () => {
  const CURSOR_UNKNOWN = expect.objectContaining({ reason: 'CURSOR_UNKNOWN' })

  test.each(['', 'nonsense', '1', '.1', 'EARLIEST'])('is malformed: %j', async (after) => {
    const { hub } = await openHub({ stored: 2 })
    expect(() => hub.subscribe(after, EVERY_EVENT)).toThrow(CURSOR_UNKNOWN)
  })

  test('belongs to another log', async () => {
    const { hub } = await openHub({ stored: 2 })
    const beginning = createCursors('other').write({ sequence: 0, digest: undefined })
    expect(() => hub.subscribe(beginning, EVERY_EVENT)).toThrow(CURSOR_UNKNOWN)
  })

  test('belongs to the beginning, and has a digest', async () => {
    const { hub, bareCursorAt } = await openHub({ stored: 2 })
    expect(() => hub.subscribe(`${bareCursorAt(0)}.AAAAAAAA`, EVERY_EVENT)).toThrow(CURSOR_UNKNOWN)
  })

  test('is later than the last event', async () => {
    const { subscribe, publish } = await openHub({ stored: 2 })
    expect(() => subscribe(3)).toThrow(CURSOR_UNKNOWN)
    expect(() => subscribe(2)).not.toThrow()
    await publish(1)
    expect(() => subscribe(3)).not.toThrow()
  })

  test('is earlier than the events that are kept', async () => {
    const { hub, subscribe, publish } = await openHub()
    await publish(5)
    hub.pruneThrough(3)
    expect(() => subscribe(2)).toThrow(CURSOR_UNKNOWN)
    expect(await take(subscribe(3), 2)).toEqual([4, 5])
  })
})

describe('the close of a subscription', () => {
  test('ends a waiting call and all later ones', async () => {
    const { subscribe, publish } = await openHub()
    const subscription = subscribe()
    const waiting = subscription.next()
    waiting.catch(() => {})
    await settle()
    subscription.close()
    expect(subscription.ended.aborted).toBe(true)
    await expect(waiting).rejects.toBe(subscription.ended.reason)
    await publish(1)
    await expect(subscription.next()).rejects.toBe(subscription.ended.reason)
  })
})

describe('the close of the hub', () => {
  test('ends all subscriptions, waiting or not, and rejects new ones', async () => {
    const { hub, subscribe, publish } = await openHub({ stored: 5 })
    const SHUTTING_DOWN = expect.objectContaining({ reason: 'SHUTTING_DOWN' })
    const subscriptions = [subscribe(), subscribe(0), subscribe(2)]
    const [live, replaying] = subscriptions
    await publish(1)
    await live?.next()
    await replaying?.next()
    const waiting = live?.next()
    waiting?.catch(() => {})
    await settle()
    hub.close()
    await expect(waiting).rejects.toEqual(SHUTTING_DOWN)
    for (const subscription of subscriptions) {
      expect(subscription.ended.aborted).toBe(true)
      expect(subscription.ended.reason).toEqual(SHUTTING_DOWN)
      await expect(subscription.next()).rejects.toBe(subscription.ended.reason)
    }
    expect(() => subscribe()).toThrow(SHUTTING_DOWN)
  })
})
