import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Row } from './benchmark.js'
import { startBuiltService } from './built-service.js'
import { type ChattyChain, onChattyChain } from './chatty-chain.js'
import { exponentOf, withExponents } from './exponents.js'
import { quantile } from './load.js'
import { type Crowd, gather } from './many-clients.js'
import { residentBytes } from './process-memory.js'

const CLIENTS = [100, 1000, 10_000]
const EVENTS = 10
const BLOCKS = 5
const SETTLE_MS = 3000
const SPREAD = 'first to last ms'
const KB = 'KB per client'

/** WebSocket clients of events, by their number. */
export const growthClients: Benchmark = {
  name: 'growth-clients',
  about:
    `WebSocket clients that wait for events: the service's memory (RSS) for each, and a block of ${EVENTS} events to all of them, from ` +
    'the first message at any client to the last one, the median of some blocks. The exponent is that of this time, from the ' +
    'row before.',
  collectMetrics: () =>
    onChattyChain(async (chain) => {
      const rows: Row[] = []
      for (const clients of CLIENTS) rows.push(await measure(chain, clients))
      return {
        rows: withExponents(rows, 'clients', SPREAD),
        findings: [
          {
            name: 'clients: exponent of the time from the first message to the last one',
            value: exponentOf(rows, 'clients', SPREAD),
            atMost: 1.1,
          },
          {
            name: 'clients: memory of each of the most, KB',
            value: Number(rows.at(-1)?.[KB]),
            atMost: 20,
          },
        ],
      }
    }),
}

async function measure(chain: ChattyChain, clients: number): Promise<Row> {
  const service = await startBuiltService(chain, {
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    MAX_STREAM_CLIENTS: String(2 * clients),
  })
  try {
    await delay(SETTLE_MS)
    const before = residentBytes(service.pid)
    const crowd = await gather(service.socketUrl, { size: clients, isGreeted: true })
    try {
      await delay(SETTLE_MS)
      const bytes = residentBytes(service.pid) - before
      const cpuBefore = await service.cpuSeconds()
      const spreads: number[] = []
      for (let block = 0; block < BLOCKS; block++) spreads.push(await deliver(chain, crowd))
      const cpu = (await service.cpuSeconds()) - cpuBefore
      return {
        clients,
        [KB]: bytes / clients / 1000,
        [SPREAD]: quantile(spreads, 0.5),
        'longest ms': Math.max(...spreads),
        'CPU ms per block': (cpu * 1000) / BLOCKS,
      }
    } finally {
      await crowd.leave()
    }
  } finally {
    await service.stop()
  }
}

/** Emits a block. @returns milliseconds from the first message to the last one */
async function deliver(chain: ChattyChain, crowd: Crowd): Promise<number> {
  const [{ firstAt, lastAt }] = await Promise.all([
    crowd.delivery(EVENTS),
    chain.emitEvents({ events: EVENTS, eventsPerBlock: EVENTS }),
  ])
  return lastAt - firstAt
}
