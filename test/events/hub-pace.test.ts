import { describe, expect, test } from 'vitest'
import type { Subscription } from '../../src/events/subscriber.js'
import type { ManualClock } from '../support/manual-clock.js'
import { now, openHub, range, settle, take } from './hub-harness.js'

const SUBSCRIBER_TOO_SLOW = expect.objectContaining({ reason: 'SUBSCRIBER_TOO_SLOW' })

async function pass(clock: ManualClock, ms: number): Promise<void> {
  await settle()
  await clock.advance(ms)
  await settle()
}

describe('a subscriber that takes nothing of what it received', () => {
  test('ends after 10 s, also when no call waits', async () => {
    const { subscribe, publish, onSlow, clock } = await openHub()
    const slow = subscribe()
    await publish(1)
    await slow.next()
    await pass(clock, 10_000)
    expect([slow.ended.aborted, onSlow.mock.calls.length]).toEqual([false, 0])
    await pass(clock, 1000)
    expect(slow.ended.reason).toEqual(SUBSCRIBER_TOO_SLOW)
    expect(onSlow).toHaveBeenCalledOnce()
    await expect(slow.next()).rejects.toBe(slow.ended.reason)
    await pass(clock, 60_000)
    expect(onSlow).toHaveBeenCalledOnce()
  })

  test('does not slow others down, and frees its place', async () => {
    const { subscribe, publish, clock } = await openHub()
    const [slow, good] = [subscribe(), subscribe()]
    await publish(1)
    await slow.next()
    const taken = take(good, 12)
    for (const _ of range(2, 12)) {
      await publish(1)
      await pass(clock, 1000)
    }
    expect(slow.ended.aborted).toBe(true)
    expect(await now(taken)).toEqual(range(1, 12))
    expect(good.ended.aborted).toBe(false)
    expect(() => subscribe()).not.toThrow()
  })

  test('is not one that waits for events or has closed', async () => {
    const { subscribe, publish, onSlow, clock } = await openHub()
    const [waiting, left] = [subscribe(), subscribe()]
    await publish(1)
    await Promise.all([waiting.next(), left.next()])
    left.close()
    const next = waiting.next()
    await pass(clock, 14_000)
    await publish(1)
    expect(await next).toMatchObject([{ sequence: 2 }])
    expect(onSlow).not.toHaveBeenCalled()
    expect(left.ended.reason).not.toEqual(SUBSCRIBER_TOO_SLOW)
  })
})

describe('a subscriber that lags for more than a minute', () => {
  /** Takes a batch a second: too slow to catch up, too fast to be stalled. */
  async function takeSlowly(
    clock: ManualClock,
    subscriptions: readonly Subscription[],
    seconds: number,
  ): Promise<void> {
    for (const _ of range(1, seconds)) {
      await Promise.all(subscriptions.map((subscription) => subscription.next()))
      await pass(clock, 1000)
    }
  }

  test('ends after it had caught up, and not during its replay', async () => {
    const { subscribe, publish, onSlow, clock } = await openHub({ stored: 8000 })
    const [caughtUp, replaying] = [subscribe(8000), subscribe(0)]
    const live = caughtUp.next()
    await settle()
    await publish(7000)
    await live

    await takeSlowly(clock, [caughtUp, replaying], 58)
    expect([caughtUp.ended.aborted, replaying.ended.aborted]).toEqual([false, false])
    await takeSlowly(clock, [caughtUp, replaying], 3)
    expect([caughtUp.ended.aborted, replaying.ended.aborted]).toEqual([true, false])
    expect(caughtUp.ended.reason).toEqual(SUBSCRIBER_TOO_SLOW)
    expect(onSlow).toHaveBeenCalledOnce()
  })

  test('continues when it has caught up in between, however long it had waited before', async () => {
    const { subscribe, publish, clock } = await openHub()
    const subscription = subscribe()
    for (const _ of range(1, 8)) {
      const waiting = subscription.next()
      await pass(clock, 15_000)
      expect(await waiting).toEqual([])
    }
    for (const _ of range(1, 3)) {
      await publish(2900)
      await takeSlowly(clock, [subscription], 29)
      const atTheEnd = subscription.next()
      await pass(clock, 1000)
      await publish(1)
      await atTheEnd
    }
    expect(subscription.ended.aborted).toBe(false)
  })
})

describe('silence', () => {
  test('ends with an empty batch after 15 s, again and again', async () => {
    const { subscribe, bareCursorAt, clock } = await openHub({ stored: 3 })
    const subscription = subscribe()
    for (const _ of range(1, 3)) {
      const next = subscription.next()
      await pass(clock, 14_900)
      expect(await now(next)).toBe('waiting')
      await pass(clock, 100)
      expect(await now(next)).toEqual([])
      expect(subscription.cursor()).toBe(bareCursorAt(3))
    }
  })
})
