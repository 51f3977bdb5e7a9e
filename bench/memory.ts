import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Result, Row } from './benchmark.js'
import type { BuiltService } from './built-service.js'
import { restCaller } from './callers.js'
import { closedLoop } from './load.js'
import { gather } from './many-clients.js'
import { residentBytes } from './process-memory.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const SOLVERS = 10
const CONNECTIONS = 16
/** Quotes of all solvers after which the memory is read. */
const MARKS = [1_000, 10_000, 50_000, 100_000]
/** Quotes of one solver, which take less time. */
const LONG_MARKS = [100_000, 250_000, 500_000, 1_000_000]
const STREAM_CLIENTS = 1000
const TURN_SECONDS = 0.5
const SETTLE_MS = 2000

/** The memory of the service under load. */
export const memory: Benchmark = {
  name: 'memory',
  about:
    `Memory (RSS) during quotes of ${SOLVERS} solvers over ${CONNECTIONS} connections, and then with ` +
    `${STREAM_CLIENTS.toLocaleString('en')} WebSocket clients as well. Then the same of another service during quotes of one solver: ` +
    'of those, there can be many more in the time.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      return await measureOn(fixture)
    } finally {
      await fixture.stop()
    }
  },
}

async function measureOn(fixture: SolverFixture): Promise<Result> {
  const service = await fixture.startService()
  await fixture.register(service.url, 0, SOLVERS)
  const idle = megabytesOf(service)
  const usual = await loadUntil(fixture, service, MARKS)
  const crowd = await gather(service.socketUrl, { size: STREAM_CLIENTS, isGreeted: true })
  await delay(SETTLE_MS)
  const withClients = megabytesOf(service)
  await crowd.leave()
  await service.stop()
  const another = await fixture.startService()
  await fixture.register(another.url, 0, 1)
  const long = await loadUntil(fixture, another, LONG_MARKS)
  const row = (solvers: number, quotes: number, clients: number, megabytes: number): Row => {
    return { solvers, quotes, 'stream clients': clients, MB: megabytes }
  }
  const last = usual.at(-1) ?? { quotes: Number.NaN, megabytes: Number.NaN }
  const [first] = long
  return {
    rows: [
      row(SOLVERS, 0, 0, idle),
      ...usual.map(({ quotes, megabytes }) => row(SOLVERS, quotes, 0, megabytes)),
      row(SOLVERS, last.quotes, STREAM_CLIENTS, withClients),
      ...long.map(({ quotes, megabytes }) => row(1, quotes, 0, megabytes)),
    ],
    findings: [
      { name: 'memory after 100,000 quotes, MB', value: last.megabytes, atMost: 180 },
      { name: 'memory with 1,000 stream clients after them, MB', value: withClients, atMost: 220 },
      {
        name: 'memory after 1,000,000 quotes relative to that after 100,000, one solver',
        value: (long.at(-1)?.megabytes ?? Number.NaN) / (first?.megabytes ?? Number.NaN),
        atMost: 1.05,
      },
    ],
  }
}

const megabytesOf = ({ pid }: BuiltService) => Math.round(residentBytes(pid) / 1e6)

/** Asks for quotes, and reads the memory after each of these numbers of them. */
async function loadUntil(fixture: SolverFixture, service: BuiltService, marks: readonly number[]) {
  const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
  const callers = Array.from({ length: CONNECTIONS }, () => restCaller({ url, body: fixture.quoteRequest }))
  const read: { readonly quotes: number; readonly megabytes: number }[] = []
  let quotes = 0
  try {
    for (const mark of marks) {
      while (quotes < mark) quotes += (await closedLoop(callers, TURN_SECONDS)).calls
      read.push({ quotes, megabytes: megabytesOf(service) })
    }
    return read
  } finally {
    await Promise.all(callers.map((caller) => caller.close()))
  }
}
