import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Result } from './benchmark.js'
import type { BuiltService } from './built-service.js'
import { type Answer, type Caller, leanCaller, postCaller } from './callers.js'
import { exponentOf, withExponents } from './exponents.js'
import { quantile } from './load.js'
import { startSolverFixture } from './solver-fixture.js'

const CALLERS = [1, 4, 16, 64, 256, 1024, 4096]
const SOLVERS = 10
const SECONDS = 5
const WARM_UP = { callers: 16, seconds: 2 }
/** From this number of callers on, they keep the service busy. */
const SATURATION = 16
const CONNECTING_AT_ONCE = 50
/** Callers that were refused return within this part after the time that the service names, as clients do. */
const SPREAD = 1 / 2

type PostCaller = Awaited<ReturnType<typeof postCaller>>

/** An answer with its milliseconds, and whether it came before the end of the load. */
interface Timed extends Answer {
  readonly ms: number
  readonly isInTime: boolean
}

/** Quotes by the number of callers, until the service refuses some. */
export const growthCallers: Benchmark = {
  name: 'growth-callers',
  about:
    `POST /v1/{chainId}/quote with ${SOLVERS} solvers that answer at once. Each caller has a connection, sends its next request after ` +
    'an answer, and waits for `Retry-After` when it was refused with 503. The reference is the best throughput. The exponent is ' +
    'that of the median latency, from the row before.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      const service = await fixture.startService()
      await fixture.register(service.url, 0, SOLVERS)
      const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
      const measure = (callers: number) => measureLoad(service, callers, url, fixture.quoteRequest)
      await withCallers(WARM_UP.callers, url, fixture.quoteRequest, (all) => load(all, WARM_UP.seconds))
      const rows: Load[] = []
      for (const callers of CALLERS) rows.push(await measure(callers))
      return conclude(rows)
    } finally {
      await fixture.stop()
    }
  },
}

async function measureLoad(
  service: BuiltService,
  callers: number,
  url: string,
  body: unknown,
): Promise<Load> {
  return withCallers(callers, url, body, async (all) => {
    const cpuBefore = await service.cpuSeconds()
    const answers = await load(all, SECONDS)
    return toRow(callers, answers, (await service.cpuSeconds()) - cpuBefore)
  })
}

/** A row of the table. `cpu` is in seconds. */
export function toRow(callers: number, answers: readonly Timed[], cpu: number): Load {
  const quoted = answers.filter(({ status }) => status === 200)
  const quotes = quoted.map(({ ms }) => ms)
  const refused = answers.filter(({ status }) => status === 503).map(({ ms }) => ms)
  const other = answers.find(({ status }) => status !== 200 && status !== 503)
  if (other !== undefined) throw new Error(`an answer was ${other.status}`)
  return {
    callers,
    'quotes/s': quoted.filter(({ isInTime }) => isInTime).length / SECONDS,
    'median ms': quantile(quotes, 0.5),
    'p99 ms': quantile(quotes, 0.99),
    'longest ms': Math.max(...quotes),
    'share of 503': refused.length / answers.length,
    '503 median ms': refused.length === 0 ? 0 : quantile(refused, 0.5),
    '503 p99 ms': refused.length === 0 ? 0 : quantile(refused, 0.99),
    'CPU ms per quote': (cpu * 1000) / quotes.length,
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

/** Each caller sends one request after another until the time is over. Resolves with all answers. */
async function load(callers: readonly PostCaller[], seconds: number): Promise<Timed[]> {
  const answers: Timed[] = []
  const end = performance.now() + seconds * 1000
  const loops = callers.map(async ({ call }) => {
    for (let now = performance.now(); now < end; now = performance.now()) {
      const answer = await call()
      const then = performance.now()
      answers.push({ ...answer, ms: then - now, isInTime: then <= end })
      if (answer.retryAfterMs !== undefined) await delay(answer.retryAfterMs * (1 + Math.random() * SPREAD))
    }
  })
  await Promise.all(loops)
  return answers
}
