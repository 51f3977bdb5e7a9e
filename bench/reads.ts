import { setTimeout as delay } from 'node:timers/promises'
import { createCalls } from '../test/support/chain/contract-calls.js'
import { contractStruct } from '../test/support/solvers/solver.js'
import { recordAnswer } from './answers.js'
import { benchAccount } from './bench-accounts.js'
import type { Benchmark, Result } from './benchmark.js'
import { leanCaller, postJson } from './callers.js'
import { ABOUT_RATIOS, columnsOf, compete, type Score, throughputRatio } from './load.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const SOLVERS = 10
const CONNECTIONS = 16
/** Far below the million responses a minute that the limits allow. */
const ROUNDS = { rounds: 11, seconds: 0.5 }

const SERVERS = ['limit', 'service', 'logging'] as const

type Scores = Readonly<Record<(typeof SERVERS)[number], Score>>

/** Reads that are frequent and change seldom. */
export const reads: Benchmark = {
  name: 'reads',
  about:
    `GET of a chain's list of ${SOLVERS} solvers, and of a deposited order that the service has in memory, over ` +
    `${CONNECTIONS} connections. The limit is plain Fastify with a route that answers the same bytes and headers ` +
    'and logs nothing. The rows "service" log nothing either (LOG_LEVEL=warn). The rows "logging" log a line for ' +
    'each request, which is the default. ' +
    ABOUT_RATIOS,
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
  const { chainId } = fixture.chain
  const service = await fixture.startService({ LOG_LEVEL: 'warn' })
  const logging = await fixture.startService()
  for (const { url } of [service, logging]) await fixture.register(url, 0, SOLVERS)
  const listPath = `/v1/${chainId}/solvers`
  const orderPath = `/v1/${chainId}/order/${await depositOrder(fixture, service.url)}`
  const limit = await fixture.startServer('bench/plain-server.ts', {
    [listPath]: await recordAnswer(service.url + listPath),
    [orderPath]: await recordAnswer(service.url + orderPath),
  })

  async function scoresOf(path: string): Promise<Scores> {
    const contestant = async ({ url, cpuSeconds }: Pick<typeof limit, 'url' | 'cpuSeconds'>) => ({
      callers: await Promise.all(Array.from({ length: CONNECTIONS }, () => leanCaller(url + path))),
      cpuSeconds,
    })
    const contestants = {
      limit: await contestant(limit),
      service: await contestant(service),
      logging: await contestant(logging),
    }
    const rest = stayAwake()
    return compete(contestants, ROUNDS).finally(rest)
  }
  const list = await scoresOf(listPath)
  const order = await scoresOf(orderPath)
  const ratio = ({ limit, logging }: Scores) => throughputRatio(logging, limit)
  return {
    rows: [...rowsOf('list of solvers', list), ...rowsOf('order from memory', order)],
    findings: [
      {
        name: 'order from memory, with its log: throughput relative to plain Fastify',
        value: ratio(order),
        atLeast: 0.75,
      },
      {
        name: 'list of solvers, with its log: throughput relative to plain Fastify',
        value: ratio(list),
        atLeast: 0.75,
      },
    ],
  }
}

/**
 * Keeps this process awake. To wake it would be work of the server that writes to it, and more of it for a
 * slower server. Over a network, no server does this work.
 * @returns ends that
 */
function stayAwake(): () => void {
  let isAwake = true
  const turn = () => {
    if (isAwake) setImmediate(turn)
  }
  turn()
  return () => {
    isAwake = false
  }
}

function rowsOf(read: string, scores: Scores) {
  return SERVERS.map((server) => ({
    read,
    server,
    ...columnsOf(scores[server], scores.limit, 'answer'),
  }))
}

/** Deposits a quote at the contract. Resolves with its order's id when the service reports the deposit. */
async function depositOrder({ chain, quoteRequest }: SolverFixture, serviceUrl: string): Promise<string> {
  const { devnet, contracts, chainId } = chain
  const user = benchAccount(0)
  const { quote, solverSignature, orderId } = await postJson(
    `${serviceUrl}/v1/${chainId}/quote`,
    quoteRequest,
  )
  const calls = createCalls(devnet, contracts.settlement)
  await calls.mint(contracts.usdc, user.address, BigInt(quote.inputAmount))
  await calls.approve(contracts.usdc, user, BigInt(quote.inputAmount))
  await calls.send(user, 'deposit', [contractStruct(quote), solverSignature])
  const isDeposited = async () => {
    const { text } = await recordAnswer(`${serviceUrl}/v1/${chainId}/order/${orderId}`)
    return JSON.parse(text).state === 'DEPOSITED'
  }
  while (!(await isDeposited())) await delay(100)
  return orderId
}
