import { setTimeout as delay } from 'node:timers/promises'
import { readMetrics } from '../test/support/service/metrics.js'
import type { Benchmark, Row } from './benchmark.js'
import { startBuiltService } from './built-service.js'
import { type ChattyChain, onChattyChain } from './chatty-chain.js'

const EVENTS = 100_000
const EVENTS_PER_BLOCK = 250
const MAX_MS = 120_000

/** How soon the service has read the past of a chain. */
export const backfill: Benchmark = {
  name: 'backfill',
  about: "Reading a chain's past: time from the start of the service until all events are in its log.",
  collectMetrics: () =>
    onChattyChain(async (chain) => {
      const { fromBlock } = await chain.emitEvents({ events: EVENTS, eventsPerBlock: EVENTS_PER_BLOCK })
      return { rows: [await readFrom(chain, fromBlock)], findings: [] }
    }),
}

async function readFrom(chain: ChattyChain, fromBlock: number): Promise<Row> {
  const start = performance.now()
  const service = await startBuiltService(chain, { [`START_BLOCK_${chain.chainId}`]: String(fromBlock) })
  try {
    while ((await countEvents(service.url)) < EVENTS) {
      if (performance.now() - start > MAX_MS) throw new Error('the events were not read in time')
      await delay(50)
    }
    const seconds = (performance.now() - start) / 1000
    return {
      events: EVENTS,
      seconds: Math.round(seconds * 10) / 10,
      'events/s': Math.round(EVENTS / seconds),
      "service's CPU seconds": Math.round((await service.cpuSeconds()) * 10) / 10,
    }
  } finally {
    await service.stop()
  }
}

const countEvents = async (url: string) => (await readMetrics(url)).sum('aggregator_events_total')
