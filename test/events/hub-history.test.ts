import { describe, expect, test } from 'vitest'
import { EVERY_EVENT } from '../../packages/protocol/src/orders/event.js'
import { now, openHub, range, take } from './hub-harness.js'

const CURSOR_UNKNOWN = expect.objectContaining({ reason: 'CURSOR_UNKNOWN' })
/** The digest of an entry in another history. */
const OTHER = 'aaaaaaaa'
const withDigest = (cursor: string, digest: string) => cursor.replace(/[^.]*$/, digest)

/** A hub with five entries in memory after ten that only the store has. */
async function openFilled() {
  const opened = await openHub({ stored: 10, isConfirmed: false })
  await opened.publish(5)
  const { hub } = opened
  return {
    ...opened,
    /** Subscribes like the transports. */
    async come(after: string) {
      await hub.confirm(after)
      return hub.subscribe(after, EVERY_EVENT)
    },
  }
}

describe('a cursor', () => {
  test.each([3, 10])('of entry %d is confirmed by the store before it is accepted', async (sequence) => {
    const { hub, come, cursorAt } = await openFilled()
    const cursor = cursorAt(sequence)
    expect(() => hub.subscribe(cursor, EVERY_EVENT)).toThrow(CURSOR_UNKNOWN)
    const subscription = await come(cursor)
    expect(subscription.cursor()).toBe(cursor)
    expect(await take(subscription, 15 - sequence)).toEqual(range(sequence + 1, 15))
    expect(hub.confirm(cursor)).toBeUndefined()
  })

  test.each([0, 11, 15])('of entry %d needs no read', async (sequence) => {
    const { hub, cursorAt } = await openFilled()
    expect(hub.confirm(cursorAt(sequence))).toBeUndefined()
    const subscription = hub.subscribe(cursorAt(sequence), EVERY_EVENT)
    expect(await take(subscription, 15 - sequence)).toEqual(range(sequence + 1, 15))
  })

  test.each([3, 10, 11, 15])('of another entry %d is rejected', async (sequence) => {
    const { come, cursorAt } = await openFilled()
    await expect(come(withDigest(cursorAt(sequence), OTHER))).rejects.toEqual(CURSOR_UNKNOWN)
  })

  test.each([3, 10, 11, 15])('of entry %d without its digest is rejected', async (sequence) => {
    const { come, bareCursorAt } = await openFilled()
    await expect(come(bareCursorAt(sequence))).rejects.toEqual(CURSOR_UNKNOWN)
  })
})

describe('the cursor of a subscriber that replays with a filter', () => {
  test('can be confirmed, also after an entry that does not pass the filter', async () => {
    const { hub, cursorAt, come } = await openFilled()
    const subscription = hub.subscribe(cursorAt(0), { ...EVERY_EVENT, chainIds: new Set([2]) })
    const next = subscription.next()
    expect(await now(next)).toBe('waiting')
    expect(subscription.cursor()).toBe(cursorAt(15))
    expect(await now((await come(subscription.cursor())).next())).toBe('waiting')
  })
})

describe('a log with another history', () => {
  async function openReplaced() {
    const opened = await openFilled()
    const { hub, store, subscribe, cursorAt } = opened
    await opened.hub.confirm(cursorAt(2))
    const before = [subscribe(), subscribe(12), subscribe(2)]
    const waiting = before.map((subscription) => subscription.next().catch((error) => error))
    await waiting[1]
    const { logId } = await store.readState()
    const recent = await store.readAfter(7, 1)
    hub.startOver({ logId, lastSequence: 8, prunedSequence: 0, recent })
    return { ...opened, before, waiting, lost: range(9, 15).map(cursorAt) }
  }

  test('ends all subscriptions, whatever their positions', async () => {
    const { before, waiting } = await openReplaced()
    expect(await waiting[0]).toEqual(CURSOR_UNKNOWN)
    for (const subscription of before) {
      expect(subscription.ended.reason).toEqual(CURSOR_UNKNOWN)
      await expect(subscription.next()).rejects.toEqual(CURSOR_UNKNOWN)
    }
  })

  test('is followed from its end', async () => {
    const { hub, store, come, cursorAt } = await openReplaced()
    const live = hub.subscribe(undefined, EVERY_EVENT)
    expect(live.cursor()).toBe(cursorAt(8))
    hub.publish(await store.readAfter(8, 3))
    expect(await take(live, 3)).toEqual([9, 10, 11])
    expect(await take(await come(cursorAt(2)), 9)).toEqual(range(3, 11))
  })

  test('rejects cursors after its end and cursors without a digest', async () => {
    const { come, lost, bareCursorAt } = await openReplaced()
    for (const cursor of lost) await expect(come(cursor)).rejects.toEqual(CURSOR_UNKNOWN)
    for (const n of [1, 8]) await expect(come(bareCursorAt(n))).rejects.toEqual(CURSOR_UNKNOWN)
  })
})
