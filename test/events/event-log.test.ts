import { describe, expect, test } from 'vitest'
import { EVERY_EVENT } from '../../packages/protocol/src/orders/event.js'
import { header, manySettled, newBlocks, settled } from '../store/events/event-samples.js'
import type { ManualClock } from '../support/manual-clock.js'
import { openLog } from './event-log-harness.js'
import { now, range, settle, take } from './hub-harness.js'

const DAY_MS = 86_400_000
const CURSOR_UNKNOWN = expect.objectContaining({ reason: 'CURSOR_UNKNOWN' })

describe('subscribers receive', () => {
  test('appended and reverted events after the store has them', async () => {
    const { eventLog, store, beginning } = await openLog()
    const subscription = eventLog.subscribe(beginning, EVERY_EVENT)
    expect(await take(subscription, 1)).toEqual([1])
    const next = subscription.next()
    const appended = eventLog.eventSink(1).append(newBlocks(12, 12, [settled(1, 12, 0)]))
    expect(await next).toMatchObject([{ sequence: 2, event: settled(1, 12, 0).event }])
    expect(await store.readAfter(1, 10)).toHaveLength(1)
    await appended
    await eventLog.eventSink(1).revert(header(10))
    const reverted = [
      { event: { type: 'Reverted', blockNumber: 12 } },
      { event: { type: 'Reverted', blockNumber: 11 } },
    ]
    expect(await subscription.next()).toMatchObject(reverted)
  })

  test('events in the order of the log, whatever the order and the duration of the writes', async () => {
    const { eventLog } = await openLog((store) => ({
      async append(token, blocks) {
        const logEntries = await store.append(token, blocks)
        if (token.chainId === 1) await settle()
        return logEntries
      },
    }))
    const subscription = eventLog.subscribe(undefined, EVERY_EVENT)
    const appended = [2, 1, 3].map((chainId) =>
      eventLog.eventSink(chainId).append(newBlocks(20, 20, manySettled(chainId, 20, 600))),
    )
    await Promise.all(appended)
    expect(await now(take(subscription, 1800))).toEqual(range(2, 1801))
  })

  test('no event of a failed write, and the events of the next one', async () => {
    const { eventLog } = await openLog()
    const subscription = eventLog.subscribe(undefined, EVERY_EVENT)
    const failing = eventLog.eventSink(1).append(newBlocks(12, 12, [settled(1, 12, 0), settled(1, 11, 0)]))
    const next = eventLog.eventSink(1).append(newBlocks(12, 12, [settled(1, 12, 0)]))
    await expect(failing).rejects.toThrow('UNIQUE constraint failed')
    await next
    expect(await subscription.next()).toMatchObject([{ sequence: 2, event: settled(1, 12, 0).event }])
  })
})

test('the listener of events is called before subscribers receive, also for events of another replica', async () => {
  const notes: string[] = []
  const { open } = await openLog(undefined, (event) => notes.push(`listener ${event.blockNumber}`))
  const [here, elsewhere] = [await open(), await open()]
  await settle()
  const subscription = here.subscribe(undefined, EVERY_EVENT)
  const noted = subscription.next().then((entries) => {
    for (const { event } of entries) notes.push(`subscriber ${event.blockNumber}`)
  })
  await elsewhere.eventSink(1).append(newBlocks(12, 12, manySettled(1, 12, 1)))
  expect(notes.splice(0)).toEqual(['listener 12'])
  await here.eventSink(2).open()
  await here.eventSink(2).append(newBlocks(13, 13, manySettled(2, 13, 1)))
  await noted
  expect(notes).toEqual(['listener 12', 'listener 13', 'subscriber 12', 'subscriber 13'])
})

test('published events are counted by chain and type', async () => {
  const { eventLog, metrics } = await openLog()
  await eventLog.eventSink(1).append(newBlocks(12, 12, manySettled(1, 12, 2)))
  await eventLog.eventSink(2).append(newBlocks(12, 12, manySettled(2, 12, 1)))
  await eventLog.eventSink(1).revert(header(11))
  const { values } = await metrics.events.get()
  expect(values.map(({ labels, value }) => [labels.chain_id, labels.type, value])).toEqual([
    [1, 'Settled', 2],
    [2, 'Settled', 1],
    [1, 'Reverted', 2],
  ])
})

describe('retention', () => {
  async function passTenMinutes(clock: ManualClock): Promise<void> {
    await clock.advance(10 * 60_000)
    await settle()
  }

  /** Publishes another event at a time. */
  async function publishAt(ms: number, { eventLog, clock }: Awaited<ReturnType<typeof openLog>>) {
    clock.set(ms)
    await eventLog.eventSink(1).append(newBlocks(12, 12, [settled(1, 12, 0)]))
  }

  test('removes entries that are too old compared with the last one, after the log is opened', async () => {
    for (const [ms, isKept] of [
      [2 * DAY_MS, true],
      [2 * DAY_MS + 1, false],
    ] as const) {
      const opened = await openLog()
      await publishAt(ms, opened)
      const again = await opened.open()
      await settle()
      const subscribe = () => again.subscribe(opened.beginning, EVERY_EVENT)
      if (isKept) expect(await take(subscribe(), 2)).toEqual([1, 2])
      else expect(subscribe).toThrow(CURSOR_UNKNOWN)
      expect(await now(again.subscribe(await opened.cursorAt(2), EVERY_EVENT).next())).toBe('waiting')
    }
  })

  test('removes them every ten minutes from then on', async () => {
    const opened = await openLog()
    const { clock, eventLog, store, beginning } = opened
    await publishAt(2 * DAY_MS + 1, opened)
    expect(() => eventLog.subscribe(beginning, EVERY_EVENT)).not.toThrow()
    await passTenMinutes(clock)
    expect(() => eventLog.subscribe(beginning, EVERY_EVENT)).toThrow(CURSOR_UNKNOWN)
    expect(await store.readState()).toMatchObject({ prunedSequence: 1 })
  })

  test('removes nothing because of a clock that is days ahead', async () => {
    const { open, clock, beginning } = await openLog()
    clock.set(40 * DAY_MS)
    const wrong = await open()
    await passTenMinutes(clock)
    expect(await take(wrong.subscribe(beginning, EVERY_EVENT), 1)).toEqual([1])
    clock.set(0)
    const right = await open()
    await passTenMinutes(clock)
    expect(await take(right.subscribe(beginning, EVERY_EVENT), 1)).toEqual([1])
  })

  test('removes nothing because of an entry that was published while the clock was 40 days ahead', async () => {
    const opened = await openLog()
    const { clock, eventLog, store } = opened
    const realMs = 1_700_000_000_000
    await publishAt(realMs, opened)
    clock.set(realMs + 40 * DAY_MS)
    await eventLog.eventSink(1).append(newBlocks(13, 13, [settled(1, 13, 0)]))
    await passTenMinutes(clock)
    expect(await store.readState()).toMatchObject({ prunedSequence: 1, lastSequence: 3 })
  })
})
