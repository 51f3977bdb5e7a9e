import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Finding, Row } from './benchmark.js'
import { type Caller, postJson, restCaller } from './callers.js'
import { quantile } from './load.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const SOLVERS = 10
const QUOTE_TIMEOUT_MS = 2000
const QUOTES_PER_SECOND = 50
const SECONDS = 20
/** Enough connections for all quotes that may wait at once. */
const CONNECTIONS = (2 * QUOTES_PER_SECOND * QUOTE_TIMEOUT_MS) / 1000
const WARM_UP_QUOTES = 1000
/** The solver that misbehaves. */
const ODD_ONE = SOLVERS - 1
const LATE_MS = 1900
/** The soft deadline of the service by default. */
const SOFT_TIMEOUT_MS = 500
/** The delay of the slowest solver in the measurement of the service's own part. */
const SLOW_MS = 50
const RECOVERY_LIMIT_MS = 10_000

/** Quotes under a steady load while one solver of ten misbehaves. */
export const tail: Benchmark = {
  name: 'tail',
  about:
    `${QUOTES_PER_SECOND} quotes a second for ${SECONDS} s of ten solvers. All are well, or one hangs, or one answers after ` +
    `${LATE_MS} ms, with the soft deadline and without, or one takes ${SLOW_MS} ms. The last case shows what is added to the slowest solver: by the service, and by the ` +
    'bare server of `quote`, with the timers of the solvers and the load of the machine.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      const well = await withService(fixture, 0, ({ load }) => load())
      const { hanging, recoveryMs } = await withService(fixture, undefined, async ({ load, recover }) => ({
        hanging: await load(),
        recoveryMs: await recover(),
      }))
      const late = await withService(fixture, LATE_MS, ({ load }) => load())
      const awaited = await withService(fixture, LATE_MS, ({ load }) => load(), {
        QUOTE_SOFT_TIMEOUT_MS: '0',
      })
      const slow = await withService(fixture, SLOW_MS, ({ load }) => load())
      const bareSlow = await loadBareServer(fixture)
      const fromFourthAsk = hanging.slice(3)
      return {
        rows: [
          toRow('all well', well),
          toRow('one hangs', hanging),
          toRow('one hangs: from its fourth request on', fromFourthAsk),
          toRow(`one answers after ${LATE_MS} ms`, late),
          toRow(`one answers after ${LATE_MS} ms, QUOTE_SOFT_TIMEOUT_MS=0`, awaited),
          toRow(`one takes ${SLOW_MS} ms`, slow),
          toRow(`one takes ${SLOW_MS} ms, bare server`, bareSlow),
        ],
        findings: toFindings({ well, hanging, fromFourthAsk, late, slow, bareSlow, recoveryMs }),
      }
    } finally {
      await fixture.stop()
    }
  },
}

interface Measured {
  readonly well: readonly number[]
  readonly hanging: readonly number[]
  readonly fromFourthAsk: readonly number[]
  readonly late: readonly number[]
  readonly slow: readonly number[]
  readonly bareSlow: readonly number[]
  readonly recoveryMs: number
}

function toFindings(measured: Measured): Finding[] {
  const { well, hanging, fromFourthAsk, late, slow, bareSlow, recoveryMs } = measured
  const p99 = (latencies: readonly number[]) => quantile(latencies, 0.99)
  return [
    {
      name: 'one hangs: longest quote beyond QUOTE_SOFT_TIMEOUT_MS, ms',
      value: Math.max(...hanging) - SOFT_TIMEOUT_MS,
      atMost: 20,
    },
    {
      name: `one answers after ${LATE_MS} ms: longest quote beyond QUOTE_SOFT_TIMEOUT_MS, ms`,
      value: Math.max(...late) - SOFT_TIMEOUT_MS,
      atMost: 50,
    },
    {
      name: 'one hangs: p99 from its fourth request on, less that with all well, ms',
      value: p99(fromFourthAsk) - p99(well),
      atMost: 5,
    },
    {
      name: 'one hung: from its recovery to its next offer, ms',
      value: recoveryMs,
      atMost: RECOVERY_LIMIT_MS,
    },
    { name: 'added to the slowest solver: p99, ms', value: p99(slow) - SLOW_MS, atMost: 5 },
    {
      name: 'added to the slowest solver beyond what the bare server adds: p99, ms',
      value: p99(slow) - p99(bareSlow),
      atMost: 5,
    },
  ]
}

interface Running {
  /** @returns the latencies of a steady load, in the order of the requests */
  load(): Promise<number[]>
  /** Lets the misbehaving solver reply again. @returns how long it took until a quote had its offer */
  recover(): Promise<number>
}

/**
 * A new service, warmed up with healthy solvers.
 * @param oddDelayMs the delay of the misbehaving solver from then on; undefined makes it hang
 */
async function withService<T>(
  fixture: SolverFixture,
  oddDelayMs: number | undefined,
  use: (running: Running) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> {
  const service = await fixture.startService({
    QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS),
    QUOTE_SOFT_TIMEOUT_MS: String(SOFT_TIMEOUT_MS),
    TRUST_PROXY: '1',
    ...environment,
  })
  const body = fixture.quoteRequest
  const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
  const callers = Array.from({ length: CONNECTIONS }, (_, client) =>
    restCaller({ url, body, headers: { 'x-forwarded-for': `198.18.0.${client}` } }),
  )
  try {
    await fixture.register(service.url, 0, SOLVERS)
    await warmUp(callers)
    fixture.behave({ solver: ODD_ONE, ...(oddDelayMs === undefined ? {} : { delayMs: oddDelayMs }) })
    return await use({
      load: () => steadyLoad(callers),
      async recover() {
        fixture.behave({ solver: ODD_ONE, delayMs: 0 })
        const start = performance.now()
        for (;;) {
          const { alternativeQuotes } = await postJson(url, body)
          const tookMs = performance.now() - start
          if (alternativeQuotes.length === SOLVERS - 1 || tookMs > 3 * RECOVERY_LIMIT_MS) return tookMs
          await delay(1000 / QUOTES_PER_SECOND)
        }
      },
    })
  } finally {
    fixture.behave({ solver: ODD_ONE, delayMs: 0 })
    await Promise.all(callers.map((caller) => caller.close()))
    await service.stop()
  }
}

/** The same load on the bare server, with one slow solver. */
async function loadBareServer(fixture: SolverFixture): Promise<number[]> {
  const server = await fixture.startServer('bench/bare-quote-server.ts', fixture.endpoints)
  const request = { url: `${server.url}/?solvers=${SOLVERS}`, body: fixture.quoteRequest }
  const callers = Array.from({ length: CONNECTIONS }, () => restCaller(request))
  try {
    await warmUp(callers)
    fixture.behave({ solver: ODD_ONE, delayMs: SLOW_MS })
    return await steadyLoad(callers)
  } finally {
    fixture.behave({ solver: ODD_ONE, delayMs: 0 })
    await Promise.all(callers.map((caller) => caller.close()))
  }
}

async function warmUp(callers: readonly Caller[]): Promise<void> {
  for (let quote = 0; quote < WARM_UP_QUOTES; quote++) await callers[quote % CONNECTIONS]?.call()
}

/**
 * Sends requests at fixed times, whether or not earlier ones are answered. The wait for a free connection
 * counts.
 */
async function steadyLoad(callers: readonly Caller[], seconds = SECONDS): Promise<number[]> {
  const start = performance.now()
  const quotes = Array.from({ length: QUOTES_PER_SECOND * seconds }, async (_, index) => {
    const due = start + (index * 1000) / QUOTES_PER_SECOND
    await delay(due - performance.now())
    const asked = performance.now()
    await callers[index % callers.length]?.call()
    return performance.now() - asked
  })
  return Promise.all(quotes)
}

function toRow(solvers: string, latencies: readonly number[]): Row {
  const at = (part: number) => Math.round(quantile(latencies, part) * 10) / 10
  return {
    solvers,
    quotes: latencies.length,
    'median ms': at(0.5),
    'p99 ms': at(0.99),
    'p99.9 ms': at(0.999),
    'longest ms': at(1),
  }
}
