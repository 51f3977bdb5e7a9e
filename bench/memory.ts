import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Row } from './benchmark.js'
import { restCaller } from './callers.js'
import { closedLoop } from './load.js'
import { gather } from './many-clients.js'
import { residentBytes } from './process-memory.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const SOLVERS = 10
const CONNECTIONS = 16
/** Quotes after which the memory is read. */
const MARKS = [1_000, 10_000, 50_000, 100_000]
const STREAM_CLIENTS = 1000
const TURN_SECONDS = 0.5
const SETTLE_MS = 2000

/** The memory of the service under load. */
export const memory: Benchmark = {
  name: 'memory',
  about:
    `Memory (RSS) during quotes of ${SOLVERS} solvers over ${CONNECTIONS} connections, and then with ` +
    `${STREAM_CLIENTS.toLocaleString('en')} WebSocket clients as well.`,
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      return await measureOn(fixture)
    } finally {
      await fixture.stop()
    }
  },
}

async function measureOn(fixture: SolverFixture) {
  const service = await fixture.startService()
  await fixture.register(service.url, 0, SOLVERS)
  const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
  const callers = Array.from({ length: CONNECTIONS }, () => restCaller({ url, body: fixture.quoteRequest }))
  const rows: Row[] = []
  const note = (quotes: number, clients: number) => {
    const megabytes = Math.round(residentBytes(service.pid) / 1e6)
    rows.push({ quotes, 'stream clients': clients, MB: megabytes })
    return megabytes
  }
  let quotes = 0
  let underLoad = note(0, 0)
  try {
    for (const mark of MARKS) {
      while (quotes < mark) quotes += (await closedLoop(callers, TURN_SECONDS)).calls
      underLoad = note(quotes, 0)
    }
  } finally {
    await Promise.all(callers.map((caller) => caller.close()))
  }
  const crowd = await gather(service.socketUrl, { size: STREAM_CLIENTS, isGreeted: true })
  await delay(SETTLE_MS)
  const withClients = note(quotes, STREAM_CLIENTS)
  await crowd.leave()
  return {
    rows,
    findings: [
      { name: 'memory after 100,000 quotes, MB', value: underLoad, atMost: 180 },
      { name: 'memory with 1,000 stream clients after them, MB', value: withClients, atMost: 220 },
    ],
  }
}
