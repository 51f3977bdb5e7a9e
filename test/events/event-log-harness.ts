import { onTestFinished } from 'vitest'
import type { StreamEvent } from '../../packages/protocol/src/orders/event.js'
import type { InstanceContext } from '../../src/cluster/instance.js'
import { createSingleInstance } from '../../src/cluster/open-instance.js'
import { openEventLog } from '../../src/events/event-log.js'
import type { EventStore } from '../../src/store/events/event-store.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { manySettled, newBlocks, openToRead } from '../store/events/event-samples.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'
import { withoutHang } from './hub-harness.js'

/** A log over a store in memory, with a clock that the test sets and events published at 0 ms: one, unless the test says more. */
export async function openLog(
  change: (store: EventStore) => Partial<EventStore> = () => ({}),
  onEvent: (event: StreamEvent) => void = () => {},
  events = 1,
) {
  const clock = createManualClock(0)
  const { store, one } = await openToRead(':memory:', clock.now)
  await store.append(one, newBlocks(11, 11, manySettled(1, 11, events)))
  const metrics = createMetrics()
  const log = createLog('silent')
  const open = async () => {
    const events = { ...store, ...change(store) }
    const instance = { stores: { events }, cluster: createSingleInstance() }
    const context = only<InstanceContext>({
      config: { eventRetentionDays: 2 },
      instance,
      metrics,
      clock,
      log,
    })
    // Earlier entries are read from the store.
    const eventLog = await openEventLog(context, onEvent, 1)
    onTestFinished(() => eventLog.close())
    const eventSinks = new Map([1, 2, 3].map((chainId) => [chainId, eventLog.eventSinkOf(chainId)]))
    for (const eventSink of eventSinks.values()) await eventSink.open()
    const eventSink = (chainId: number) => eventSinks.get(chainId) ?? eventLog.eventSinkOf(chainId)
    const subscribe: typeof eventLog.subscribe = (...parameters) =>
      withoutHang(eventLog.subscribe(...parameters))
    return { ...eventLog, subscribe, eventSink }
  }
  const { logId } = await store.readState()
  return {
    eventLog: await open(),
    open,
    clock,
    store,
    metrics,
    log,
    /** The cursor of the beginning. */
    beginning: `${logId}.0`,
    /** The cursor after an entry; one that is made up for an entry that does not exist. */
    async cursorAt(n: number) {
      const entry = await store.readEntry(n)
      return `${logId}.${n}.${entry?.digest ?? 'aaaaaaaa'}`
    },
  }
}
