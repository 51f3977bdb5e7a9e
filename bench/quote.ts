import { readMetrics } from '../test/support/service/metrics.js'
import type { Benchmark, Result, Row } from './benchmark.js'
import { restCaller } from './callers.js'
import { expectOffers } from './expect-offers.js'
import {
  ABOUT_RATIOS,
  columnsOf,
  compareRounds,
  compete,
  type Score,
  slope,
  throughputRatio,
} from './load.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const SIZES = [1, 2, 5, 10, 20, 50]
/** The number of callers while the number of solvers grows. */
export const CONNECTIONS = 16
/** The number of solvers for different loads, and the numbers of connections. */
export const USUAL_SIZE = 10
const LOADS = [1, 2, 4, 8, CONNECTIONS, 32]
const ROUNDS = { rounds: 11, seconds: 0.5 }

/** `again` is the limit a second time: it shows the noise of the machine. */
const SERVERS = ['limit', 'service', 'again'] as const
type Server = (typeof SERVERS)[number]
const LABELS: Readonly<Record<Server, string>> = { limit: 'limit', service: 'service', again: 'limit again' }

/** One size under one load. */
export interface LoadResult {
  readonly solvers: number
  readonly connections: number
  readonly scores: Readonly<Record<Server, Score>>
}

/** Quotes over REST, by number of solvers and of connections. */
export const quote: Benchmark = {
  name: 'quote',
  about:
    'POST /v1/{chainId}/quote. Every solver answers at once, and each connection sends its next request after an ' +
    'answer. The limit is a bare node:http server that asks the same solvers over undici and recovers one public ' +
    'key for each reply, on its one thread. It checks, hashes, counts, limits and logs nothing. `limit again` is the same server ' +
    'once more, which shows the noise of the machine. The order of the servers is reversed in each round. ' +
    ABOUT_RATIOS,
  async collectMetrics() {
    const fixture = await startSolverFixture(Math.max(...SIZES))
    try {
      return await measureOn(fixture)
    } finally {
      await fixture.stop()
    }
  },
}

async function measureOn(fixture: SolverFixture): Promise<Result> {
  const size = String(Math.max(...SIZES))
  const service = await fixture.startService({ MAX_QUOTE_FAN_OUT: size, MAX_SOLVERS_PER_CHAIN: size })
  const limit = await fixture.startServer('bench/bare-quote-server.ts', fixture.endpoints)
  const body = fixture.quoteRequest
  const results: LoadResult[] = []
  let registered = 0
  let quotes = 0
  let offersAskedFor = 0
  for (const solvers of SIZES) {
    await fixture.register(service.url, registered, solvers)
    registered = solvers
    const limitUrl = `${limit.url}/?solvers=${solvers}`
    const urls = {
      limit: limitUrl,
      service: `${service.url}/v1/${fixture.chain.chainId}/quote`,
      again: limitUrl,
    }
    const contestant = (name: Server, connections: number) => ({
      callers: Array.from({ length: connections }, () => restCaller({ url: urls[name], body })),
      cpuSeconds: { limit, service, again: limit }[name].cpuSeconds,
    })
    for (const url of Object.values(urls)) await expectOffers(url, body, solvers)
    for (const connections of solvers === USUAL_SIZE ? LOADS : [1, CONNECTIONS]) {
      const scores = await compete(
        {
          limit: contestant('limit', connections),
          service: contestant('service', connections),
          again: contestant('again', connections),
        },
        ROUNDS,
      )
      results.push({ solvers, connections, scores })
    }
    const quotesBefore = quotes
    quotes = (await readMetrics(service.url)).sum('aggregator_quotes_total')
    offersAskedFor += (quotes - quotesBefore) * solvers
  }
  const offers = (await readMetrics(service.url)).sum('aggregator_solver_replies_total', {
    outcome: 'quoted',
  })
  return conclude(results, offers / offersAskedFor)
}

/**
 * The results of all loads: a row for each contestant, the cost of another solver, and the findings.
 * @param completeness the part of all offers that the service's responses had
 */
export function conclude(results: readonly LoadResult[], completeness: number): Result {
  const scoresAt = (connections: number) => {
    const found = results.find((one) => one.solvers === USUAL_SIZE && one.connections === connections)
    if (found === undefined) throw new Error(`nothing was measured at ${connections} connections`)
    return found.scores
  }
  const cpuPerSolver = (server: 'limit' | 'service') =>
    slope(
      results
        .filter(({ connections }) => connections === CONNECTIONS)
        .map(({ solvers, scores }) => ({ x: solvers, y: scores[server].cpuMs })),
    )
  const slopes = { limit: cpuPerSolver('limit'), service: cpuPerSolver('service') }
  const crowded = scoresAt(CONNECTIONS)
  const alone = scoresAt(1)
  return {
    rows: [...results.flatMap(rowsOf), ...slopeRows(slopes)],
    findings: [
      {
        name: 'quote, 10 solvers: throughput relative to the limit',
        value: throughputRatio(crowded.service, crowded.limit),
        atLeast: 0.84,
      },
      {
        name: 'quote, 10 solvers, one connection: median latency relative to the limit',
        value: compareRounds(alone.service, alone.limit, (own, other) => own.median / other.median),
        atMost: 1.15,
      },
      {
        name: 'quote, 10 solvers: CPU beyond that of the limit, ms',
        value: compareRounds(crowded.service, crowded.limit, (own, other) => own.cpuMs - other.cpuMs),
        atMost: 0.12,
      },
      {
        name: 'quote: CPU per added solver relative to the limit',
        value: slopes.service / slopes.limit,
        atMost: 1.15,
      },
      {
        name: 'quote: the limit relative to itself',
        value: throughputRatio(crowded.again, crowded.limit),
        atLeast: 0.95,
        atMost: 1.05,
      },
      {
        name: "quote: share of the solvers' offers in the answers",
        value: completeness,
        atLeast: 0.999,
      },
    ],
  }
}

function rowsOf({ solvers, connections, scores }: LoadResult): Row[] {
  return SERVERS.map((server) => ({
    solvers,
    connections,
    server: LABELS[server],
    ...columnsOf(scores[server], scores.limit, 'quote'),
  }))
}

function slopeRows(slopes: Readonly<Record<'limit' | 'service', number>>): Row[] {
  return (['limit', 'service'] as const).map((server) => ({
    solvers: 'each one more',
    connections: CONNECTIONS,
    server,
    'CPU ms per quote': slopes[server],
  }))
}
