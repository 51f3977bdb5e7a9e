import type { Result } from './benchmark.js'
import type { BuiltReplicas } from './built-replicas.js'
import { type BuiltService, NO_LIMITS } from './built-service.js'
import { type Caller, postJson, restCaller } from './callers.js'
import type { DatabaseServer } from './database-server.js'
import { type Contestant, compete, type Pace, type Score, throughputRatio } from './load.js'
import { rowOf } from './replica-rows.js'
import type { SolverFixture } from './solver-fixture.js'

/** The number of solvers in the benchmark `quote` with different loads. */
export const SOLVERS = 10
const CONNECTIONS = 16
/** The number of connections to three replicas, the same to each. */
const FLEET_CONNECTIONS = 24
const MAX_WAIT_MS = 5000
/** The record of a quote is written a second after it. */
const PACE: Pace = { rounds: 3, seconds: 2, leadSeconds: 1.3 }
/** For comparisons in which a few percent count. */
const FINE_PACE: Pace = { ...PACE, rounds: 6 }
/** So that each caller is a client of its own. */
const FORWARDED = { TRUST_PROXY: '1' }

/** The quote path with PostgreSQL, compared with SQLite. */
export async function measureStores(fixture: SolverFixture, server: DatabaseServer): Promise<Result> {
  const { sqlite, postgres } = await letCompete(fixture, server, FINE_PACE, {
    sqlite: NO_LIMITS,
    postgres: { ...NO_LIMITS, DATABASE_URL: await server.createDatabase() },
  })
  return {
    rows: [
      quoteRow('SQLite, requests not counted', sqlite, sqlite),
      quoteRow('PostgreSQL, requests not counted', postgres, sqlite),
    ],
    findings: [
      {
        name: 'quote on PostgreSQL: throughput relative to SQLite',
        value: throughputRatio(postgres, sqlite),
        atLeast: 0.95,
      },
    ],
  }
}

/** The cost of a common count of requests over all replicas. */
export async function measureCounting(fixture: SolverFixture, server: DatabaseServer): Promise<Result> {
  const { memory, postgres } = await letCompete(fixture, server, FINE_PACE, {
    memory: { DATABASE_URL: await server.createDatabase(), RATE_LIMIT_STORE: 'memory' },
    postgres: { DATABASE_URL: await server.createDatabase() },
  })
  return {
    rows: [
      quoteRow('PostgreSQL, requests counted in memory', memory, memory),
      quoteRow('PostgreSQL, requests counted in PostgreSQL', postgres, memory),
    ],
    findings: [],
  }
}

/** Puts services with different variables under the same load. */
async function letCompete<Name extends string>(
  fixture: SolverFixture,
  server: DatabaseServer,
  pace: Pace,
  environments: Readonly<Record<Name, Record<string, string>>>,
): Promise<Record<Name, Score>> {
  const services: BuiltService[] = []
  const contestants: [string, Contestant][] = []
  for (const [name, environment] of Object.entries<Record<string, string>>(environments)) {
    const service = await fixture.startService({ ...FORWARDED, ...environment })
    services.push(service)
    await fixture.register(service.url, 0, SOLVERS)
    await untilAllOffer(fixture, service)
    contestants.push([name, contestantOf(fixture, server, [service], CONNECTIONS)])
  }
  const scores = await compete<Name>(Object.fromEntries(contestants) as Record<Name, Contestant>, pace)
  for (const service of services) await service.stop()
  return scores
}

/** The throughput of three replicas at once, compared with one of them while the others are idle. */
export async function measureThroughput(
  fixture: SolverFixture,
  server: DatabaseServer,
  fleet: BuiltReplicas,
): Promise<Result> {
  const replicas = fleet.replicas()
  for (const replica of replicas) await untilAllOffer(fixture, replica)
  const { leader, others } = await fleet.roles()
  const readsBefore = await Promise.all([leader, ...others].map(rpcRequests))
  const start = performance.now()
  const cpuSeconds = () => sumOf(replicas.map((replica) => replica.cpuSeconds()))
  const contestant = (asked: readonly BuiltService[]) => ({
    ...contestantOf(fixture, server, asked, FLEET_CONNECTIONS),
    cpuSeconds,
  })
  const { one, all } = await compete({ one: contestant([leader]), all: contestant(replicas) }, PACE)
  const seconds = (performance.now() - start) / 1000
  const reads = await Promise.all([leader, ...others].map(rpcRequests))
  const [atReader = 0, ...atOthers] = reads.map(
    (count, index) => (count - (readsBefore[index] ?? 0)) / seconds,
  )
  return {
    rows: [
      quoteRow('one replica of three gets all requests', one, one),
      quoteRow('all three replicas get requests', all, one),
      rowOf('RPC reads', 'at the leader, in the same time', { perSecond: atReader }),
      rowOf('RPC reads', 'at all followers together', {
        perSecond: atOthers.reduce((sum, one) => sum + one, 0),
      }),
    ],
    findings: [],
  }
}

/** The number of requests of a replica to the chain's node. */
const rpcRequests = ({ total }: BuiltService) => total('aggregator_rpc_requests_total')

function contestantOf(
  fixture: SolverFixture,
  server: DatabaseServer,
  asked: readonly BuiltService[],
  connections: number,
): Contestant {
  return {
    callers: callersOf(fixture, asked, connections),
    cpuSeconds: () => sumOf(asked.map((service) => service.cpuSeconds())),
    otherCpuSeconds: server.cpuSeconds,
  }
}

async function sumOf(values: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(values)).reduce((sum, value) => sum + value, 0)
}

/** Waits until a replica asks all solvers: it gets notified of new ones. */
async function untilAllOffer(fixture: SolverFixture, { url }: BuiltService): Promise<void> {
  for (const end = performance.now() + MAX_WAIT_MS; ; ) {
    const { alternativeQuotes } = await postJson(quoteUrl(fixture, url), fixture.quoteRequest)
    const offers = alternativeQuotes.length + 1
    if (offers === SOLVERS) return
    if (performance.now() > end) throw new Error(`${offers} offers from ${url} instead of ${SOLVERS}`)
  }
}

function quoteUrl({ chain }: SolverFixture, baseUrl: string): string {
  return `${baseUrl}/v1/${chain.chainId}/quote`
}

/** Callers of replicas, the same number for each. */
function callersOf(fixture: SolverFixture, replicas: readonly BuiltService[], count: number): Caller[] {
  return Array.from({ length: count }, (_, index) => {
    const { url = '' } = replicas[index % replicas.length] ?? {}
    const headers = { 'x-forwarded-for': `10.0.0.${index}` }
    return restCaller({ url: quoteUrl(fixture, url), body: fixture.quoteRequest, headers })
  })
}

function quoteRow(what: string, score: Score, reference: Score) {
  const { median, p99, otherCpuMs: databaseCpuMs } = score
  const ratio = throughputRatio(score, reference)
  return { ...rowOf('quotes', what, { ...score, databaseCpuMs, ratio }), 'median ms': median, 'p99 ms': p99 }
}
