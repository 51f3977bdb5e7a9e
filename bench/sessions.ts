import { readMetrics } from '../test/support/service/metrics.js'
import type { Benchmark, Result, Row } from './benchmark.js'
import type { BuiltService } from './built-service.js'
import { restCaller } from './callers.js'
import { expectOffers } from './expect-offers.js'
import { ABOUT_RATIOS, columnsOf, compete, type Score, slope, throughputRatio } from './load.js'
import type { SessionTarget } from './session-pool.js'
import type { Market } from './signed-offers.js'
import { type SolverFixture, startSolverFixture, startTypeScript } from './solver-fixture.js'

const SIZES = [10, 50, 200]
/** The number of solvers at which the ways to ask them are compared. */
const USUAL_SIZE = 10
const CALLERS = 16
const SECONDS = 1.5
/** More rounds where servers are compared: a ratio of four of them differs by a tenth from run to run. */
const roundsOf = (solvers: number) => (solvers === USUAL_SIZE ? 12 : 4)
/** With the most solvers, the two cores need seconds for what a machine with more does in less. */
const QUOTE_TIMEOUT_MS = '10000'

/** The ways to ask solvers. The first one is the reference. */
const SERVERS = [
  'bare server, endpoints',
  'bare server, WebSocket',
  'service, endpoints',
  'service, WebSocket sessions',
  'service, gRPC sessions',
] as const

type Server = (typeof SERVERS)[number]

/** All ways to ask one number of solvers. */
interface SizeResult {
  readonly solvers: number
  readonly scores: Readonly<Record<Server, Score>>
}

/** Quotes of solvers with sessions, and of solvers with endpoints. */
export const sessions: Benchmark = {
  name: 'sessions',
  about:
    `POST /v1/{chainId}/quote with ${CALLERS} connections, whose solvers have sessions or endpoints. Every solver answers at ` +
    'once. The bare servers are the limits of `quote`: one asks endpoints over undici, the other one asks over ws. All take ' +
    'turns in one run, with the same processes of solvers and callers. The CPU is that of the server alone. ' +
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
  const limits = { MAX_QUOTE_FAN_OUT: size, MAX_SOLVERS_PER_CHAIN: size, QUOTE_TIMEOUT_MS }
  const [byEndpoint, byWebSocket, byGrpc] = [
    await fixture.startService(limits),
    await fixture.startService(limits),
    await fixture.startService(limits),
  ]
  const bareEndpoints = await fixture.startServer('bench/bare-quote-server.ts', fixture.endpoints)
  const bareSessions = await fixture.startServer('bench/bare-session-server.ts', {})
  const pool = await startSessionPool(fixture)
  const path = `/v1/${fixture.chain.chainId}/quote`
  const urls = (solvers: number): Record<Server, string> => ({
    'bare server, endpoints': `${bareEndpoints.url}/?solvers=${solvers}`,
    'bare server, WebSocket': `${bareSessions.url}/?solvers=${solvers}`,
    'service, endpoints': byEndpoint.url + path,
    'service, WebSocket sessions': byWebSocket.url + path,
    'service, gRPC sessions': byGrpc.url + path,
  })
  const cpu: Record<Server, () => Promise<number>> = {
    'bare server, endpoints': bareEndpoints.cpuSeconds,
    'bare server, WebSocket': bareSessions.cpuSeconds,
    'service, endpoints': byEndpoint.cpuSeconds,
    'service, WebSocket sessions': byWebSocket.cpuSeconds,
    'service, gRPC sessions': byGrpc.cpuSeconds,
  }
  const body = fixture.quoteRequest
  try {
    const results: SizeResult[] = []
    const completeness = measureOffers(byWebSocket)
    for (const [index, solvers] of SIZES.entries()) {
      const range = { from: SIZES[index - 1] ?? 0, to: solvers }
      await fixture.register(byEndpoint.url, range.from, range.to)
      await pool.connect({ url: byWebSocket.url, transport: 'websocket', ...range })
      await pool.connect({ url: bareSessions.url, transport: 'websocket', ...range })
      await pool.connect({ url: byGrpc.url, transport: 'grpc', ...range })
      const at = urls(solvers)
      for (const server of SERVERS) await expectOffers(at[server], body, solvers)
      const contestants = SERVERS.map((server) => {
        const callers = Array.from({ length: CALLERS }, () => restCaller({ url: at[server], body }))
        return [server, { callers, cpuSeconds: cpu[server] }]
      })
      const pace = { rounds: roundsOf(solvers), seconds: SECONDS }
      results.push({ solvers, scores: await compete<Server>(Object.fromEntries(contestants), pace) })
      await completeness.add(solvers)
    }
    return conclude(results, completeness.value())
  } finally {
    await pool.stop()
  }
}

/** The solvers that connect, in one process for all servers. */
async function startSessionPool({ chain }: Pick<SolverFixture, 'chain'>) {
  const { settlement } = chain.contracts
  const market: Market = { ...chain.devnet, settlement }
  const pool = startTypeScript('bench/session-pool.ts', JSON.stringify(market))
  await pool.waitFor(/started/)
  return {
    /** @returns when all sessions are open */
    async connect(target: SessionTarget): Promise<void> {
      pool.child.stdin.write(`${JSON.stringify(target)}\n`)
      await pool.waitFor(new RegExp(`connected ${target.transport} ${target.url} ${target.to}\n`))
    },
    stop: pool.end,
  }
}

/** The part of all offers that the answers of a service had. */
function measureOffers({ url }: BuiltService) {
  let [quotes, wanted, offers] = [0, 0, 0]
  return {
    async add(solvers: number): Promise<void> {
      const metrics = await readMetrics(url)
      const before = quotes
      quotes = metrics.sum('aggregator_quotes_total')
      wanted += (quotes - before) * solvers
      offers = metrics.sum('aggregator_solver_replies_total', { outcome: 'quoted' })
    },
    value: () => offers / wanted,
  }
}

/**
 * A row for each size and server, the cost of another solver, and the findings.
 * @param completeness the part of the offers of sessions that the service's responses had
 */
export function conclude(results: readonly SizeResult[], completeness: number): Result {
  const usual = results.find(({ solvers }) => solvers === USUAL_SIZE)?.scores
  if (usual === undefined) throw new Error(`nothing was measured with ${USUAL_SIZE} solvers`)
  const cpuPerSolver = (server: Server) =>
    slope(results.map(({ solvers, scores }) => ({ x: solvers, y: scores[server].cpuMs })))
  const bySession = usual['service, WebSocket sessions']
  return {
    rows: [
      ...results.flatMap(rowsOf),
      ...SERVERS.map((server) => ({
        solvers: 'each one more',
        server,
        'CPU ms per quote': cpuPerSolver(server),
      })),
    ],
    findings: [
      {
        name: 'sessions, 10 solvers: throughput relative to endpoints',
        value: throughputRatio(bySession, usual['service, endpoints']),
        atLeast: 1.1,
      },
      {
        name: 'sessions, 10 solvers: throughput relative to the bare server with endpoints',
        value: throughputRatio(bySession, usual['bare server, endpoints']),
        atLeast: 1,
      },
      {
        name: 'sessions: CPU per added solver relative to endpoints',
        value: cpuPerSolver('service, WebSocket sessions') / cpuPerSolver('service, endpoints'),
        atMost: 0.8,
      },
      { name: "sessions: share of the solvers' offers in the answers", value: completeness, atLeast: 0.999 },
    ],
  }
}

function rowsOf({ solvers, scores }: SizeResult): Row[] {
  return SERVERS.map((server) => ({
    solvers,
    server,
    ...columnsOf(scores[server], scores[SERVERS[0]], 'quote'),
  }))
}
