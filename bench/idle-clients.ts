import { setTimeout as delay } from 'node:timers/promises'
import { startChain } from '../test/support/chain/chain.js'
import { startBareServer } from './bare-server.js'
import type { Benchmark } from './benchmark.js'
import { startBuiltService } from './built-service.js'
import { quantile } from './load.js'
import { gather } from './many-clients.js'
import { residentBytes } from './process-memory.js'

const CLIENTS = 5000
/** Clients that connect and leave before, so that the cost of the first ones is not counted. */
const FIRST_CLIENTS = 200
const SETTLE_MS = 5000
const STARTS = 3

interface Contestant {
  readonly start: () => Promise<{ socketUrl: string; pid: number; stop(): Promise<void> }>
  readonly isGreeting: boolean
}

/** The memory of WebSocket clients that only wait. */
export const idleClients: Benchmark = {
  name: 'idle-clients',
  about: 'Memory (RSS) of idle WebSocket clients. The limit is a bare ws server.',
  async collectMetrics() {
    const chain = await startChain({ bonded: 0 })
    try {
      const limit: Contestant = { start: startBareServer, isGreeting: false }
      const service: Contestant = { start: () => startBuiltService(chain), isGreeting: true }
      const costs: { limit: number[]; service: number[] } = { limit: [], service: [] }
      for (let start = 0; start < STARTS; start++) {
        costs.limit.push(await bytesPerClient(limit))
        costs.service.push(await bytesPerClient(service))
      }
      return toResult(quantile(costs.limit, 0.5), quantile(costs.service, 0.5))
    } finally {
      await chain.stop()
    }
  },
}

function toResult(limit: number, service: number) {
  const name = `${CLIENTS.toLocaleString('en')} idle WebSocket clients: memory relative to bare ws`
  const value = Math.round((service / limit) * 100) / 100
  const perClient = (bytes: number) => ({ clients: CLIENTS, 'KB per client': Math.round(bytes / 100) / 10 })
  return {
    rows: [
      { server: 'bare ws', ...perClient(limit), ratio: 1 },
      { server: 'this service', ...perClient(service), ratio: value },
    ],
    findings: [{ name, value, atMost: 1.5 }],
  }
}

/** In a new process. */
async function bytesPerClient({ start, isGreeting }: Contestant): Promise<number> {
  const server = await start()
  try {
    const first = await gather(server.socketUrl, { size: FIRST_CLIENTS, isGreeted: isGreeting })
    await first.leave()
    await delay(SETTLE_MS)
    const before = residentBytes(server.pid)
    const crowd = await gather(server.socketUrl, { size: CLIENTS, isGreeted: isGreeting })
    try {
      await delay(SETTLE_MS)
      return (residentBytes(server.pid) - before) / CLIENTS
    } finally {
      await crowd.leave()
    }
  } finally {
    await server.stop()
  }
}
