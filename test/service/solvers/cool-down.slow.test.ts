import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type DevAccount, devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { AppOverrides } from '../../../src/app/app.js'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { databases } from '../../support/databases/service-databases.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  ALL,
  createView,
  openBreaker,
  openFixture,
  startSolvers,
  startWithSolvers,
  WITHOUT_MOODY,
} from '../../support/solvers/three-solvers.js'

const COOL_DOWN_SECONDS = 3600
const MINUTE = 60
const USERS = [user, devAccounts[8], devAccounts[9]] as const
const [faulty, steady, other] = solverAccounts as readonly DevAccount[] as [
  DevAccount,
  DevAccount,
  DevAccount,
]

let chain: TestChain
let traffic: Traffic
let variables: Record<string, string>

beforeAll(async () => {
  chain = await startChain()
  traffic = await createTraffic(chain, { seed: 20 })
  variables = {
    FADE_COOLDOWN_SECONDS: String(COOL_DOWN_SECONDS),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    PRICE_CACHE_MS: '0',
    QUOTE_TIMEOUT_MS: '20000',
  }
})
afterAll(() => chain?.stop())

/** Orders of a solver, one of each user. They are deposited, and not filled in time. */
async function deposit(solver: DevAccount, users: readonly DevAccount[]) {
  const { timestamp } = await traffic.head()
  const orders = users.map(({ address }) =>
    traffic.actions.order({
      user: address,
      solver,
      inputAmount: 1000n,
      outputAmount: 100_000n,
      fillDeadline: timestamp,
    }),
  )
  await traffic.mine(orders.map(traffic.actions.deposit))
  return orders
}

/** Orders of a solver, one of each user, are deposited and refunded. @returns the time of the refunds, Unix seconds */
async function fade(solver: DevAccount, users: readonly DevAccount[] = USERS.slice(0, 2)): Promise<number> {
  const orders = await deposit(solver, users)
  const { timestamp } = await traffic.mine(orders.map((order) => traffic.actions.refund(order)))
  return timestamp
}

/** A clock that can be set. */
function createClock() {
  let aheadMs = 0
  return {
    now: () => Date.now() + aheadMs,
    /** @param seconds Unix time */
    set(seconds: number) {
      aheadMs = 1000 * seconds - Date.now()
    },
  }
}

async function open(overrides: AppOverrides = {}) {
  const clock = createClock()
  return {
    clock,
    ...(await openFixture(chain, variables, { clock: { ...systemClock, now: clock.now }, ...overrides })),
  }
}

type Fixture = Awaited<ReturnType<typeof open>>

function expectOffers({ quote }: Pick<Fixture, 'quote'>, offers: readonly string[]): Promise<void> {
  return expect.poll(async () => (await quote()).offers).toEqual(offers)
}

/** Waits until a later cool-down of another solver shows that all events so far have been considered. */
async function expectNoCoolDown(fixture: Fixture): Promise<void> {
  await fade(steady)
  await expectOffers(fixture, ['faulty', 'other'])
}

describe('a solver whose deposited orders were refunded', () => {
  it('is not asked for a time when the orders are of two users', async () => {
    const lines: { msg: string }[] = []
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    const fixture = await open({ log })
    const { service, quote, clock } = fixture
    const labels = { chain_id: String(chain.chainId), solver: faulty.address.toLowerCase() }
    const metric = () => service.metric('aggregator_solver_cool_down', labels)
    expect([(await quote()).offers, await metric()]).toEqual([ALL, 0])
    const refundedAt = await fade(faulty)
    await expectOffers(fixture, WITHOUT_MOODY)
    const asked = fixture.faulty.asks.length
    const { quoteId } = (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body
    const { inputToken, outputToken, amount } = quoteRequest(chain)
    const swap = { inputToken, outputToken, orderType: 'EXACT_INPUT', amount }
    const price = await service.post(`/v1/${chain.chainId}/price`, swap)
    expect([price.status, price.body.offers]).toEqual([200, 2])
    expect([fixture.faulty.asks.length, await metric()]).toEqual([asked, 1])
    const record = JSON.stringify((await service.get(`/v1/${chain.chainId}/quote/${quoteId}`)).body)
    expect([record.includes(steady.address), record.includes(faulty.address)]).toEqual([true, false])

    clock.set(refundedAt + COOL_DOWN_SECONDS - MINUTE)
    expect((await quote()).offers).toEqual(WITHOUT_MOODY)
    clock.set(refundedAt + COOL_DOWN_SECONDS)
    expect([(await quote()).offers, await metric()]).toEqual([ALL, 0])
    const own = () => lines.map(({ msg }) => msg).filter((msg) => /cool/.test(msg))
    await expect
      .poll(own)
      .toEqual([
        'deposited orders of a solver were refunded: it cools down, and is not asked',
        'the cool-down of a solver has ended',
      ])
  })

  it('is asked when all are of one user', async () => {
    const fixture = await open()
    await fade(faulty, [user, user, user])
    await expectNoCoolDown(fixture)
  })

  it('is asked when they are less than 20% of its orders', async () => {
    const fixture = await open()
    await deposit(faulty, Array<DevAccount>(9).fill(user))
    await fade(faulty)
    await expectNoCoolDown(fixture)
  })

  it('is asked when the tokens were at deposit addresses', async () => {
    const fixture = await open()
    const { timestamp } = await traffic.head()
    const orders = USERS.map(({ address }) => ({
      user: address,
      solver: faulty,
      inputAmount: 1000n,
      outputAmount: 100_000n,
      fillDeadline: timestamp - 1,
    }))
    await traffic.mine(
      orders.map((terms) => traffic.actions.refundAddressDeposit(traffic.actions.order(terms))),
    )
    await expectNoCoolDown(fixture)
  })

  it('is not asked for twice as long after the next refund of a later deposit', async () => {
    const fixture = await open()
    const first = await fade(faulty)
    await expectOffers(fixture, WITHOUT_MOODY)
    const end = first + COOL_DOWN_SECONDS
    fixture.clock.set(end + MINUTE)
    await traffic.mine([], end + MINUTE)
    expect((await fixture.quote()).offers).toEqual(ALL)
    const second = await fade(faulty, [user])
    await expectOffers(fixture, WITHOUT_MOODY)
    fixture.clock.set(second + 2 * COOL_DOWN_SECONDS - MINUTE)
    expect((await fixture.quote()).offers).toEqual(WITHOUT_MOODY)
    fixture.clock.set(second + 2 * COOL_DOWN_SECONDS)
    expect((await fixture.quote()).offers).toEqual(ALL)
  })

  it('is asked with all others when all of them cool down', async () => {
    const fixture = await open()
    await fade(faulty)
    await fade(steady)
    await expectOffers(fixture, ['other'])
    const asked = fixture.faulty.asks.length
    await fade(other)
    await expectOffers(fixture, ALL)
    expect(fixture.faulty.asks.length).toBeGreaterThan(asked)
  })

  it('is asked again when a reorganisation removes the refunds', async () => {
    const fixture = await open()
    await fade(faulty)
    await expectOffers(fixture, WITHOUT_MOODY)
    await traffic.reorganise(1)
    await expectOffers(fixture, ALL)
  })

  it('gets no probes while its circuit breaker is open', async () => {
    const time = { ms: 0 }
    const clock = { ...systemClock, monotonic: () => performance.now() + time.ms }
    const fixture = await openFixture(chain, { ...variables, QUOTE_TIMEOUT_MS: '5000' }, { clock })
    await openBreaker(fixture)
    expect((await fixture.measured()).circuitOpen).toBe(1)
    await fade(faulty)
    const metric = () =>
      fixture.service.metric('aggregator_solver_cool_down', { solver: faulty.address.toLowerCase() })
    await expect.poll(metric).toBe(1)
    const asked = fixture.faulty.asks.length
    // Long after the end of the open period.
    time.ms += 3_600_000
    for (let round = 0; round < 5; round++) expect((await fixture.quote()).offers).toEqual(WITHOUT_MOODY)
    expect(fixture.faulty.asks.length).toBe(asked)
  })

  it('is asked without FADE_COOLDOWN_SECONDS', async () => {
    const fixture = await openFixture(chain, { ...variables, FADE_COOLDOWN_SECONDS: '' })
    const before = await fixture.service.metric('aggregator_events_total', { type: 'Refunded' })
    await fade(faulty)
    const refunds = () => fixture.service.metric('aggregator_events_total', { type: 'Refunded' })
    await expect.poll(refunds).toBe(before + 2)
    expect((await fixture.quote()).offers).toEqual(ALL)
  })
})

it.each(databases)('a cool-down lasts after a restart on %s', async (_kind, makeDatabase) => {
  const solvers = await startSolvers(chain)
  const { environment, drop } = await makeDatabase()
  onTestFinished(drop)
  const all = { ...variables, ...environment }
  const first = await startWithSolvers(chain, Object.values(solvers), all)
  await fade(faulty)
  await expectOffers(first, WITHOUT_MOODY)
  await first.close()
  const second = await startWithSolvers(chain, [], all)
  expect((await second.quote()).offers).toEqual(WITHOUT_MOODY)
})

it('all replicas have a cool-down, and lose it by a reorganisation', async () => {
  const solvers = await startSolvers(chain)
  const replicas = await openReplicas(chain)
  const services = [await replicas.start(variables), await replicas.start(variables)]
  for (const solver of Object.values(solvers)) await solver.register(services[0] as (typeof services)[0])
  const views = services.map((service) => createView(service, chain))
  for (const view of views) await expectOffers(view, ALL)
  await fade(faulty)
  for (const view of views) await expectOffers(view, WITHOUT_MOODY)
  await traffic.reorganise(1)
  for (const view of views) await expectOffers(view, ALL)
})
