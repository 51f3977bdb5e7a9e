import { setTimeout as delay } from 'node:timers/promises'
import { startBuiltService } from './built-service.js'
import { startLoudChain } from './loud-chain.js'

const EVENTS = 100_000
const EVENTS_PER_BLOCK = 250

/** Reading a chain's past: how long until all of it is in the log. */
export async function measureBackfill(): Promise<object[]> {
  const chain = await startLoudChain()
  const { fromBlock } = await chain.shout({ events: EVENTS, eventsPerBlock: EVENTS_PER_BLOCK })
  const start = performance.now()
  const service = await startBuiltService(chain, { [`START_BLOCK_${chain.chainId}`]: String(fromBlock) })
  while ((await countEvents(service.url)) < EVENTS) await delay(50)
  const seconds = (performance.now() - start) / 1000
  const cpuSeconds = await service.metric('process_cpu_seconds_total')
  await service.stop()
  await chain.stop()
  return [
    {
      events: EVENTS,
      seconds: Math.round(seconds * 10) / 10,
      'events/s': Math.round(EVENTS / seconds),
      "service's CPU seconds": Math.round(cpuSeconds * 10) / 10,
    },
  ]
}

async function countEvents(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [...text.matchAll(/^aggregator_events_total\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
