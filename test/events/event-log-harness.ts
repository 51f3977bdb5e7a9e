import { onTestFinished } from 'vitest'
import { createSingleInstance } from '../../src/cluster/single-instance.js'
import type { StreamEvent } from '../../src/domain/event.js'
import { openEventLog } from '../../src/events/event-log.js'
import type { EventStore } from '../../src/store/event-store.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { newBlocks, openToRead, settled } from '../store/event-samples.js'

/** A log over a store in memory, with a clock that the test sets and one event published at 0 ms. */
export async function openLog(
  change: (store: EventStore) => Partial<EventStore> = () => ({}),
  onEvent: (event: StreamEvent) => void = () => {},
) {
  const clock = { ms: 0 }
  const { store, one } = await openToRead(':memory:', () => clock.ms)
  await store.append(one, newBlocks(11, 11, [settled(1, 11, 0)]))
  const metrics = createMetrics()
  const log = createLog('silent')
  const open = async () => {
    const eventLog = await openEventLog({
      store: { ...store, ...change(store) },
      cluster: createSingleInstance(),
      onEvent,
      eventRetentionDays: 2,
      // Earlier entries are read from the store.
      keptEntries: 0,
      metrics,
      log,
      now: () => clock.ms,
    })
    onTestFinished(() => eventLog.close())
    const eventSinks = new Map([1, 2, 3].map((chainId) => [chainId, eventLog.eventSinkOf(chainId)]))
    for (const eventSink of eventSinks.values()) await eventSink.open()
    const eventSink = (chainId: number) => eventSinks.get(chainId) ?? eventLog.eventSinkOf(chainId)
    return { ...eventLog, eventSink }
  }
  const { logId } = await store.readState()
  return {
    eventLog: await open(),
    open,
    clock,
    store,
    metrics,
    log,
    cursorAt: (n: number) => `${logId}.${n}`,
  }
}
