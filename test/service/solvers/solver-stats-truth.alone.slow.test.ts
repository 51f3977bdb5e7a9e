import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { expectedOrders, type OrderMessage } from '../../support/chain/chain-orders.js'
import { countOrders } from '../../support/chain/count-orders.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { databases, type TestDatabase } from '../../support/databases/service-databases.js'
import { eventually } from '../../support/eventually.js'
import { expectAtLast } from '../../support/expect-at-last.js'
import { createRandom } from '../../support/random.js'
import { startService, type TestService } from '../../support/service/service.js'
import {
  createPlanner,
  type Doing,
  type Plan,
  RESULTS,
  type Result,
} from '../../support/solvers/planned-quotes.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const SEED = Number(process.env.STATS_SEED ?? 20)
const SOLVERS = 5
const QUOTES = 500
/** Few, so that no request waits for a connection. */
const QUOTES_AT_ONCE = 12
const QUOTE_TIMEOUT_MS = 1000
const HOUR = 3600
const WINDOW_HOURS = 24
/** Quotes that may begin late, because the process was busy. */
const MAX_BEGUN_LATE = 2
/** The chain begins before the window. */
const STAGES = 13
const STAGE_SECONDS = 2 * HOUR
const TIMEOUT_MS = 90_000
/** The amount of a request is this and the number of its plan. */
const AMOUNT = 10n ** 18n

type Steps = 'deposited' | 'settled' | 'refunded'
type Counts = Record<Result | 'asked' | 'won' | Steps, number> & { fillRate: number | undefined }

/** A request for a firm quote, as its solver remembers it. */
interface Asked {
  readonly plan: Plan
  readonly doing: Doing
}

let chain: TestChain
let traffic: Traffic
let solvers: TestSolver[]
let database: TestDatabase
let service: TestService
let plans: Plan[]
/** Of each solver, by its id of the quote, under which it may read its own result. A lost request may come again, with the same id. */
let asked: Map<string, Asked>[]
let winners: string[]
let makePlan: () => Plan
/** The quotes of callers that stayed, which did not wait for their silent solvers long enough to call them late. */
const begunLate = new Set<Plan>()

beforeEach(async () => {
  begunLate.clear()
  ;[solvers, plans, asked, winners] = [[], [], [], []]
  makePlan = createPlanner(createRandom(SEED), SOLVERS)
  const start = Math.floor(Date.now() / 1000) - STAGES * STAGE_SECONDS
  chain = await startChain({ bonded: SOLVERS, extraArgs: ['--timestamp', String(start)] })
  const [first, ...others] = solverAccounts.slice(0, SOLVERS) as [never, ...never[]]
  traffic = await createTraffic(chain, { seed: SEED, solvers: [first, ...others] })
  for (const [index, account] of solverAccounts.slice(0, SOLVERS).entries()) {
    asked.push(new Map())
    const behaviour: Behaviour = async (ask, kit, exchange) => {
      const plan = plans[Number(BigInt(ask.amount) - AMOUNT)]
      const doing = plan?.doings[index]
      if (plan === undefined || doing === undefined) throw new Error('no plan has this amount')
      const isFirm = exchange.request.headers['x-quote-kind'] === undefined
      if (isFirm) asked[index]?.set(String(exchange.request.headers['x-quote-id']), { plan, doing })
      await pause(doing.delayMs)
      return doing.behave(ask, kit, exchange)
    }
    solvers.push(await startSolver(chain, account, behaviour))
  }
}, TIMEOUT_MS)
afterEach(async () => {
  await service?.close()
  await database?.drop()
  await Promise.all(solvers.map((solver) => solver.close()))
  await chain?.stop()
})

async function start(): Promise<void> {
  service = await startService(chain, {
    ...database.environment,
    QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS),
    PRICE_CACHE_MS: '0',
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
  })
}

/** Sends the request of a plan, and remembers who won. */
async function ask(plan: Plan): Promise<void> {
  const index = plans.push(plan) - 1
  const { originChainId, ...swap } = { ...quoteRequest(chain), amount: String(AMOUNT + BigInt(index)) }
  const path = `/v1/${chain.chainId}/${plan.kind}`
  if (plan.kind === 'price') return void (await service.post(path, swap))
  const leaving = plan.leavesAfterMs === undefined ? {} : { signal: AbortSignal.timeout(plan.leavesAfterMs) }
  const answer = await service.post(path, { ...swap, originChainId }, leaving).catch(() => undefined)
  if (plan.leavesAfterMs !== undefined) return expect(answer).toBe(undefined)
  expect([200, 503]).toContain(answer?.status)
  if (answer?.status === 200 && answer.body.alternativeQuotes.length > 0)
    winners.push(answer.body.quote.solver)
}

async function askMany(count: number): Promise<void> {
  let left = count
  const client = async () => {
    while (left-- > 0) await ask(makePlan())
  }
  await Promise.all(Array.from({ length: QUOTES_AT_ONCE }, client))
}

/** Moves the chain some stages on, each with random deposits, fills, settlements by address and refunds. */
async function trade(stages: number): Promise<void> {
  for (let count = 0; count < stages; count++) {
    const { timestamp } = await traffic.head()
    await traffic.mine([], timestamp + STAGE_SECONDS - 600)
    await traffic.run({ events: 14, blocks: 4 })
  }
}

async function untilRead(): Promise<void> {
  const { number } = await traffic.head()
  await eventually(
    async () => (await service.get('/health')).body.chains[0],
    ({ headBlock, status }) => headBlock >= number && status === 'ok',
  )
}

/** Removes the last blocks, after the service has read them. */
async function reorganise(): Promise<void> {
  await untilRead()
  const before = await expectedOrders(chain)
  await traffic.reorganiseAtRandom({ depth: 6, events: 5, longerBy: 1 })
  const left = new Set((await expectedOrders(chain)).map(({ orderId }) => orderId))
  expect(before.filter(({ orderId }) => !left.has(orderId)).length).toBeGreaterThan(2)
}

/**
 * The results that a solver gave, from its own log. Of a caller that left, only those that came before it left. A solver that is
 * silent is not late in a round that began late, because the process was busy.
 */
async function countAsked(index: number): Promise<Record<Result, number>> {
  const counts = Object.fromEntries(RESULTS.map((result) => [result, 0])) as Record<Result, number>
  for (const [quoteId, { plan, doing }] of asked[index] ?? []) {
    const hasLeft = plan.leavesAfterMs !== undefined
    if ((hasLeft || doing.result === 'late') && (await ownOutcome(quoteId)) === 'CANCELLED') {
      if (!hasLeft) begunLate.add(plan)
      continue
    }
    counts[doing.result]++
  }
  return counts
}

async function ownOutcome(quoteId: string): Promise<string> {
  const { body } = await eventually(
    () => service.get(`/v1/${chain.chainId}/quote/${quoteId}`),
    ({ status }) => status === 200,
  )
  return body.solvers[0].outcome
}

/** The hours of a solver's orders in the window, from the chain. */
function orderHours(orders: readonly OrderMessage[], address: string) {
  const current = Math.floor(Date.now() / 1000 / HOUR)
  return countOrders(orders).filter(
    ({ solver, hour, deposited, settled, refunded }) =>
      solver === address.toLowerCase() &&
      hour >= current - WINDOW_HOURS &&
      hour <= current &&
      deposited + settled + refunded > 0,
  )
}

async function countTruth(index: number, address: string, orders: readonly OrderMessage[]): Promise<Counts> {
  const results = await countAsked(index)
  const hours = orderHours(orders, address)
  const sum = (step: Steps) => hours.reduce((total, hour) => total + hour[step], 0)
  const ended = sum('settled') + sum('refunded')
  return {
    asked: Object.values(results).reduce((total, count) => total + count, 0),
    ...results,
    won: winners.filter((winner) => winner === address).length,
    deposited: sum('deposited'),
    settled: sum('settled'),
    refunded: sum('refunded'),
    fillRate: ended === 0 ? undefined : sum('settled') / ended,
  }
}

const STEPS = ['deposited', 'settled', 'refunded'] as const
const COUNTS = ['asked', ...RESULTS, 'won', ...STEPS, 'fillRate'] as const
const countsOf = (stats: Counts) => Object.fromEntries(COUNTS.map((count) => [count, stats[count]])) as Counts

async function listCounts(): Promise<Record<string, Counts>> {
  const { body } = await service.get(`/v1/${chain.chainId}/solvers/stats?window=24h`)
  return Object.fromEntries(
    body.solvers.map((stats: { solver: string } & Counts) => [stats.solver, countsOf(stats)]),
  )
}

describe.each(databases)('in %s', (_kind, make) => {
  it(
    `the statistics of ${SOLVERS} solvers are what they, their callers and the chain have counted`,
    async () => {
      database = await make()
      await start()
      for (const solver of solvers) await solver.register(service)
      await Promise.all([askMany(QUOTES / 2), trade(5)])
      await reorganise()
      await untilRead()
      await service.close()
      await trade(2)
      await start()
      await Promise.all([askMany(QUOTES / 2), trade(3).then(reorganise)])
      await trade(1)
      await untilRead()

      const orders = await expectedOrders(chain)
      const truth: Record<string, Counts> = {}
      for (const [index, { account }] of solvers.entries())
        truth[account.address] = await countTruth(index, account.address, orders)
      expect(begunLate.size).toBeLessThanOrEqual(MAX_BEGUN_LATE)
      for (const count of COUNTS)
        expect([count, Object.values(truth).every((counts) => (counts[count] ?? 0) > 0)]).toEqual([
          count,
          true,
        ])
      await expectAtLast(listCounts, truth)
      for (const { account } of solvers) {
        const { body } = await service.get(`/v1/${chain.chainId}/solvers/${account.address}/stats`)
        expect(countsOf(body.stats)).toEqual(truth[account.address])
        const inHours = body.hours.flatMap(
          ({ start, deposited, settled, refunded }: { start: number } & Counts) =>
            deposited + settled + refunded === 0
              ? []
              : [{ hour: start / HOUR, deposited, settled, refunded }],
        )
        expect(inHours).toEqual(
          orderHours(orders, account.address).map(({ hour, deposited, settled, refunded }) => {
            return { hour, deposited, settled, refunded }
          }),
        )
        for (const count of ['quoted', 'declined', 'invalid', 'failed', 'late', 'won'] as const)
          expect(body.hours.reduce((sum: number, hour: Counts) => sum + hour[count], 0)).toBe(
            truth[account.address]?.[count],
          )
      }
    },
    TIMEOUT_MS,
  )
})
