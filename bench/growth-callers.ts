import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Result } from './benchmark.js'
import type { BuiltService } from './built-service.js'
import { type Answer, type Caller, leanCaller, postCaller } from './callers.js'
import { exponentOf, withExponents } from './exponents.js'
import { quantile } from './load.js'
import { startSolverFixture } from './solver-fixture.js'

const CALLERS = [1, 4, 16, 64, 256, 1024, 4096]
/** With more, the limit closes connections that have waited for too long. */
const MOST_OF_LIMIT = 256
const SOLVERS = 10
const SECONDS = 4
/** The same load before, so that the first requests of all callers at one moment do not count. */
const LEAD_SECONDS = 2
const WARM_UP = { callers: 16, seconds: 2 }
/** From this number of callers on, they keep the service busy. */
const SATURATION = 16
const CONNECTING_AT_ONCE = 50
/** Callers that were refused return within this part after the time that the service names, as clients do. */
const SPREAD = 1 / 2

/** The service or the limit. */
type Server = Pick<BuiltService, 'cpuSeconds'>
type PostCaller = Awaited<ReturnType<typeof postCaller>>

/** An answer to a request. Times are milliseconds from the start of what counts. */
interface Timed extends Answer {
  readonly requestedAt: number
  readonly answeredAt: number
}

/** Quotes by the number of callers, until the service refuses some. */
export const growthCallers: Benchmark = {
  name: 'growth-callers',
  about:
    `POST /v1/{chainId}/quote with ${SOLVERS} solvers that answer at once. Each caller has a connection, sends its next request after ` +
    'an answer, and waits for `Retry-After` when it was refused with 503. The reference is the best throughput. The limit is that of ' +
    '`quote`: it refuses nothing, and shows what the callers themselves cost. The exponent is that of the median latency, from the ' +
    'row before.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      const service = await fixture.startService()
      await fixture.register(service.url, 0, SOLVERS)
      const limit = await fixture.startServer('bench/bare-quote-server.ts', fixture.endpoints)
      const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
      const limitUrl = `${limit.url}/?solvers=${SOLVERS}`
      const measure = (server: Server, target: string, callers: number) =>
        measureLoad(server, callers, target, fixture.quoteRequest)
      for (const target of [url, limitUrl])
        await withCallers(WARM_UP.callers, target, fixture.quoteRequest, (all) => load(all, WARM_UP.seconds))
      const rows: Load[] = []
      for (const callers of CALLERS) {
        const row = await measure(service, url, callers)
        const ofLimit = callers > MOST_OF_LIMIT ? undefined : await measure(limit, limitUrl, callers)
        rows.push({ ...row, ...(ofLimit && { 'limit quotes/s': ofLimit['quotes/s'] ?? Number.NaN }) })
      }
      return conclude(rows)
    } finally {
      await fixture.stop()
    }
  },
}

async function measureLoad(server: Server, callers: number, url: string, body: unknown): Promise<Load> {
  return withCallers(callers, url, body, async (all) => {
    const cpuBefore = await server.cpuSeconds()
    const answers = await load(all, SECONDS, LEAD_SECONDS)
    return toRow(callers, answers, (await server.cpuSeconds()) - cpuBefore)
  })
}

/** A row of the table. `cpu` is in seconds. */
export function toRow(callers: number, answers: readonly Timed[], cpu: number): Load {
  const msOf = (status: number) =>
    answers
      .filter((answer) => answer.status === status && answer.requestedAt >= 0)
      .map(({ requestedAt, answeredAt }) => answeredAt - requestedAt)
  const quotes = msOf(200)
  const refused = msOf(503)
  const isCounted = ({ answeredAt }: Timed) => answeredAt >= 0 && answeredAt <= SECONDS * 1000
  const quoted = answers.filter(({ status }) => status === 200)
  const other = answers.find(({ status }) => status !== 200 && status !== 503)
  if (other !== undefined) throw new Error(`an answer was ${other.status}`)
  return {
    callers,
    'quotes/s': quoted.filter(isCounted).length / SECONDS,
    'median ms': quantile(quotes, 0.5),
    'p99 ms': quantile(quotes, 0.99),
    'longest ms': Math.max(...quotes),
    'share of 503': refused.length / (quotes.length + refused.length),
    '503 median ms': refused.length === 0 ? 0 : quantile(refused, 0.5),
    '503 p99 ms': refused.length === 0 ? 0 : quantile(refused, 0.99),
    'CPU ms per quote': (cpu * 1000) / quoted.length,
  }
}

/** A row of the table. */
type Load = Readonly<Record<string, number>>

function conclude(measured: readonly Load[]): Result {
  const of = (figure: string) => (row: Load) => row[figure] ?? Number.NaN
  const best = Math.max(...measured.map(of('quotes/s')))
  const rows = measured.map((row): Load => ({ ...row, 'of the best': of('quotes/s')(row) / best }))
  const busy = rows.filter((row) => of('callers')(row) >= SATURATION)
  return {
    rows: withExponents(rows, 'callers', 'median ms'),
    findings: [
      {
        name: 'callers: lowest throughput from saturation on, relative to the best',
        value: Math.min(...busy.map(of('of the best'))),
        atLeast: 0.9,
      },
      {
        name: 'callers: exponent of the median latency from saturation on',
        value: exponentOf(busy, 'callers', 'median ms'),
        atMost: 1.05,
      },
      {
        name: 'callers: longest p99, ms',
        value: Math.max(...busy.map(of('p99 ms'))),
        atMost: 2100,
      },
      {
        name: 'callers: longest p99 of a refusal, ms',
        value: Math.max(...busy.map(of('503 p99 ms'))),
        atMost: 500,
      },
    ],
  }
}

/** Runs an action with open connections. */
async function withCallers<T>(
  count: number,
  url: string,
  body: unknown,
  use: (callers: readonly PostCaller[]) => Promise<T>,
): Promise<T> {
  const callers: PostCaller[] = []
  let last: Caller | undefined
  try {
    while (callers.length < count) {
      const size = Math.min(CONNECTING_AT_ONCE, count - callers.length)
      callers.push(...(await Promise.all(Array.from({ length: size }, () => postCaller(url, body)))))
    }
    // Connections are accepted in their order, one in each turn of the service's event loop.
    last = await leanCaller(new URL('/health', url).href)
    await last.call()
    return await use(callers)
  } finally {
    await Promise.all([...callers, last].map((caller) => caller?.close()))
  }
}

/**
 * Each caller sends one request after another until the time is over. Resolves with all answers.
 * @param leadSeconds of the same load before
 */
async function load(callers: readonly PostCaller[], seconds: number, leadSeconds = 0): Promise<Timed[]> {
  const answers: Timed[] = []
  const start = performance.now() + leadSeconds * 1000
  const sinceStart = () => performance.now() - start
  const loops = callers.map(async ({ call }) => {
    for (let requestedAt = sinceStart(); requestedAt < seconds * 1000; requestedAt = sinceStart()) {
      const answer = await call()
      answers.push({ ...answer, requestedAt, answeredAt: sinceStart() })
      if (answer.retryAfterMs === undefined) continue
      const pauseMs = answer.retryAfterMs * (1 + Math.random() * SPREAD)
      if (sinceStart() + pauseMs >= seconds * 1000) return
      await delay(pauseMs)
    }
  })
  await Promise.all(loops)
  return answers
}
