import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { EVERY_EVENT, type StreamEvent } from '../../packages/protocol/src/orders/event.js'
import type { ClusterBus, TopicListener } from '../../src/cluster/cluster.js'
import type { InstanceContext } from '../../src/cluster/instance.js'
import { openEventLog } from '../../src/events/event-log.js'
import type { EventStore } from '../../src/store/events/event-store.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { newBlocks, openToRead, settled } from '../store/events/event-samples.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'
import { now, settle, take, withoutHang } from './hub-harness.js'

const CURSOR_UNKNOWN = expect.objectContaining({ reason: 'CURSOR_UNKNOWN' })
const HOUR_MS = 3_600_000

/** A store in memory with one event in each block, each published a millisecond after the one before. */
async function openFilled(entries: number, { logId = 'same-log', atMs = HOUR_MS } = {}) {
  let time = atMs
  const opened = await openToRead(':memory:', () => time++)
  await opened.database.updateTable('event_log').set({ log_id: logId }).execute()
  for (let block = 1; block <= entries; block++) {
    await opened.store.append(opened.one, newBlocks(block, block, [settled(1, block, 0)]))
  }
  return opened
}

/** A log over a store that the test can replace. */
async function openReplaceable(entries: number) {
  let current = await openFilled(entries)
  const { database } = current
  const names = Object.keys(current.store) as (keyof EventStore)[]
  const delegate =
    (name: keyof EventStore) =>
    (...args: unknown[]) =>
      (current.store[name] as (...args: unknown[]) => unknown)(...args)
  const store = Object.fromEntries(names.map((name) => [name, delegate(name)])) as unknown as EventStore
  const listeners: TopicListener[] = []
  const log = createLog('silent')
  const logged = vi.spyOn(log, 'error')
  const onEvent = vi.fn<(event: StreamEvent) => void>()
  const cluster: ClusterBus = { listen: (_topic, listener) => void listeners.push(listener), publish() {} }
  const context = only<InstanceContext>({
    config: { eventRetentionDays: 1 },
    instance: { stores: { events: store }, cluster },
    metrics: createMetrics(),
    log,
    clock: createManualClock(HOUR_MS),
  })
  const opened = await openEventLog(context, onEvent)
  onTestFinished(() => opened.close())
  const subscribe: typeof opened.subscribe = (...parameters) => withoutHang(opened.subscribe(...parameters))
  const eventLog = { ...opened, subscribe }
  await settle()
  const [listener] = listeners as [TopicListener]
  return {
    eventLog,
    listener,
    logged,
    onEvent,
    database,
    replaceBy(other: typeof current) {
      current = other
    },
    async come(after: string) {
      await eventLog.waitForCursor(after)
      return eventLog.subscribe(after, EVERY_EVENT)
    },
  }
}

describe('a running service notices that its log was replaced', () => {
  const replacements: [
    what: string,
    make: () => ReturnType<typeof openFilled>,
    notify?: (listener: TopicListener) => void,
  ][] = [
    ['by one that ends earlier', () => openFilled(3)],
    ['by an empty one', () => openFilled(0)],
    ['by one with another last entry', () => openFilled(5, { atMs: HOUR_MS + 100 })],
    ['by one with another entry at the last sequence', () => openFilled(9, { atMs: HOUR_MS + 100 })],
    [
      'by one that ends earlier, at a message of another replica',
      () => openFilled(3),
      (listener) => listener.onMessage('4'),
    ],
    ['by one with another id', () => openFilled(5, { logId: 'other-log', atMs: HOUR_MS + 100 })],
  ]
  test.each(replacements)('%s', async (_what, make, notify = (listener) => listener.onMissed()) => {
    const { eventLog, listener, logged, replaceBy, come } = await openReplaceable(5)
    const running = eventLog.subscribe(undefined, EVERY_EVENT)
    const lost = running.cursor()
    const end = running.next().catch((error) => error)
    const replacement = await make()
    replaceBy(replacement)
    notify(listener)
    expect(await end).toEqual(CURSOR_UNKNOWN)
    expect(logged).toHaveBeenCalledOnce()
    await expect(come(lost)).rejects.toEqual(CURSOR_UNKNOWN)

    const { lastSequence } = await replacement.store.readState()
    const live = eventLog.subscribe(undefined, EVERY_EVENT)
    await replacement.store.append(replacement.one, newBlocks(20, 21, [settled(1, 20, 0), settled(1, 21, 0)]))
    listener.onMessage(String(lastSequence + 2))
    expect(await take(live, 2)).toEqual([lastSequence + 1, lastSequence + 2])
    expect(await now(live.next())).toBe('waiting')
    expect(logged).toHaveBeenCalledOnce()
  })

  test('when this replica writes into it', async () => {
    const { eventLog, logged, replaceBy } = await openReplaceable(5)
    const running = eventLog.subscribe(undefined, EVERY_EVENT)
    replaceBy(await openFilled(3))
    const eventSink = eventLog.eventSinkOf(1)
    await eventSink.open()
    await eventSink.append(newBlocks(20, 20, [settled(1, 20, 0)]))
    await expect(running.next()).rejects.toEqual(CURSOR_UNKNOWN)
    expect(logged).toHaveBeenCalledOnce()
    const live = eventLog.subscribe(undefined, EVERY_EVENT)
    await eventSink.append(newBlocks(21, 21, [settled(1, 21, 0)]))
    expect(await take(live, 1)).toEqual([5])
  })
})

describe('a log counts as the same', () => {
  test.each(['4', '5', '6'])('after another message for entry %s', async (text) => {
    const { eventLog, listener, logged } = await openReplaceable(5)
    const running = eventLog.subscribe(undefined, EVERY_EVENT)
    listener.onMessage(text)
    listener.onMissed()
    expect(await now(running.next())).toBe('waiting')
    expect(logged).not.toHaveBeenCalled()
  })
})
