import type { Benchmark, Finding, Row } from './benchmark.js'
import { restCaller } from './callers.js'
import { exponentOf, withExponents } from './exponents.js'
import { ABOUT_RATIOS, columnsOf, compete } from './load.js'
import { startSolverFixture } from './solver-fixture.js'

const SIZES = [1, 10, 50, 200]
const CONNECTIONS = 16
const ROUNDS = { rounds: 2, seconds: 1.5 }
const CPU = 'CPU ms per quote'
/** An exponent above 1 that comes from the size of the sockets' sets and the garbage, as for the limit. */
const MAX_ABOVE_LIMIT = 0.1

/** Quotes by the number of solvers that each one asks. */
export const growthSolvers: Benchmark = {
  name: 'growth-solvers',
  about:
    `POST /v1/{chainId}/quote over ${CONNECTIONS} connections, by the number of solvers that each quote asks. The limit is that of ` +
    '`quote`. The exponent is that of the CPU per quote, from the row before: 1 is linear. ' +
    ABOUT_RATIOS,
  async collectMetrics() {
    const largest = Math.max(...SIZES)
    const fixture = await startSolverFixture(largest)
    try {
      const size = String(largest)
      const service = await fixture.startService({ MAX_QUOTE_FAN_OUT: size, MAX_SOLVERS_PER_CHAIN: size })
      const limit = await fixture.startServer('bench/bare-quote-server.ts', fixture.endpoints)
      const body = fixture.quoteRequest
      const rows: Record<'limit' | 'service', Row[]> = { limit: [], service: [] }
      let registered = 0
      for (const solvers of SIZES) {
        await fixture.register(service.url, registered, solvers)
        registered = solvers
        const contestant = (url: string, { cpuSeconds }: Pick<typeof limit, 'cpuSeconds'>) => ({
          callers: Array.from({ length: CONNECTIONS }, () => restCaller({ url, body })),
          cpuSeconds,
        })
        const scores = await compete(
          {
            limit: contestant(`${limit.url}/?solvers=${solvers}`, limit),
            service: contestant(`${service.url}/v1/${fixture.chain.chainId}/quote`, service),
          },
          ROUNDS,
        )
        for (const server of ['limit', 'service'] as const)
          rows[server].push({ solvers, server, ...columnsOf(scores[server], scores.limit, 'quote') })
      }
      return conclude(rows)
    } finally {
      await fixture.stop()
    }
  },
}

function conclude({ limit, service }: Record<'limit' | 'service', readonly Row[]>) {
  const exponents = { limit: exponentOf(limit, 'solvers', CPU), service: exponentOf(service, 'solvers', CPU) }
  const findings: Finding[] = [
    {
      name: 'solvers: exponent of the CPU per quote, less that of the limit',
      value: exponents.service - exponents.limit,
      atMost: MAX_ABOVE_LIMIT,
    },
  ]
  return {
    rows: [...withExponents(limit, 'solvers', CPU), ...withExponents(service, 'solvers', CPU)],
    findings,
  }
}
