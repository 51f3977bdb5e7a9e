import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { exitCodeOf } from '../../../packages/cli/src/exit-codes.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { Order } from '../../support/chain/order-actions.js'
import { eventually } from '../../support/eventually.js'
import { commandLine, startCommandLine } from '../../support/process/command-line.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'

const [alice, bob] = [devAccounts[8].address, devAccounts[9].address]
const [ada, aldous] = solverAccounts
const FAR = 4_100_000_000
const STEP = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/.source
const TRANSACTION = /0x[0-9a-f]{64}/.source

let chain: TestChain
let traffic: Traffic
let service: TestService
/** The orders, the oldest first: two deposited, one refunded, one settled. */
let orders: [open: Order, other: Order, refunded: Order, settled: Order]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 35 })
  service = await startEventService([chain])
  const { actions, mine, head } = traffic
  const order = (user: typeof alice, solver: typeof ada, fillDeadline = FAR) =>
    actions.order({ user, solver, inputAmount: 5n, outputAmount: 70n, fillDeadline })
  const { timestamp } = await head()
  orders = [order(alice, ada), order(bob, aldous), order(alice, aldous, timestamp), order(alice, ada)]
  const [open, other, refunded, settled] = orders
  await mine([actions.deposit(open), actions.deposit(other), actions.deposit(refunded)])
  await mine([actions.refund(refunded)])
  await mine([actions.settle(settled)])
  await eventually(
    async () => (await service.get('/v1/31337/orders')).body.orders[0]?.orderId,
    (newest) => newest === settled.orderId,
  )
})
afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

const environment = () => ({ AGGREGATOR_URL: service.url })
const list = (...argv: string[]) =>
  commandLine(['orders', '--chain', '31337', ...argv], { environment: environment() })

/** The order ids of the lines of JSON, or of the rows of a table. */
const idsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? JSON.parse(line).orderId : (/0x\w{64}/.exec(line) ?? [])))

describe('orders', () => {
  it('lists the orders, the newest first, with time, state, amounts and transaction', async () => {
    const { code, stdout, stderr } = await list()
    expect([code, stderr]).toEqual([0, ''])
    const { weth, usdc } = chain.contracts
    const [title, ...rows] = stdout.trimEnd().split('\n')
    expect(title).toMatch(/^time +state +sells +buys +order id +transaction$/)
    const states = ['SETTLED  ', 'REFUNDED ', 'DEPOSITED', 'DEPOSITED']
    expect(rows).toHaveLength(4)
    for (const [index, row] of rows.entries()) {
      const start = `${STEP}  ${states[index]}  5 of ${weth}  70 of ${usdc}`
      const { orderId } = orders.at(-1 - index) ?? {}
      expect(row).toMatch(new RegExp(`^${start}  ${orderId}  ${TRANSACTION}$`))
    }
  })

  it('prints one JSON line an order with --json, with the steps and amounts as decimal strings', async () => {
    const { code, stdout, stderr } = await list('--json')
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    const [settled, refunded, ...open] = lines.map((line) => JSON.parse(line))
    const step = {
      blockNumber: expect.any(Number),
      blockTime: expect.any(Number),
      transactionHash: expect.stringMatching(TRANSACTION),
    }
    expect(settled).toEqual({
      ...{ state: 'SETTLED', chainId: 31337, orderId: orders[3].orderId, user: alice, solver: ada.address },
      ...{ inputToken: chain.contracts.weth, inputAmount: '5', fillDeadline: FAR },
      ...{ outputToken: chain.contracts.usdc, outputAmount: '70', outputChainId: 31337 },
      ...{ isTerminal: true, isRefundable: false, settled: step },
    })
    expect(refunded).toMatchObject({ state: 'REFUNDED', deposited: step, refunded: step })
    expect(open).toMatchObject([{ deposited: step }, { deposited: step }])
  })

  it('lists only orders that match each filter', async () => {
    const [open, other, refunded, settled] = orders.map(({ orderId }) => orderId)
    const filtered = async (...argv: string[]) => idsOf((await list(...argv)).stdout)
    expect(await filtered('--user', bob)).toEqual([other])
    expect(await filtered('--user', alice, '--solver', ada.address, '--json')).toEqual([settled, open])
    expect(await filtered('--state', 'refunded')).toEqual([refunded])
    expect(await filtered('--state', 'deposited', '--user', alice, '--json')).toEqual([open])
  })

  it('lists at most --limit orders, and says whether there are more', async () => {
    const newest = idsOf((await list('--json')).stdout)
    for (const limit of [1, 3]) {
      const { code, stdout, stderr } = await list('--limit', String(limit))
      expect([code, idsOf(stdout)]).toEqual([0, newest.slice(0, limit)])
      expect(stderr).toBe('There are more orders: list more with --limit, up to 10000.\n')
    }
    const all = await list('--limit', '4', '--json')
    expect([idsOf(all.stdout), all.stderr]).toEqual([newest, ''])
  })

  it('says that no order matches, and nothing with --json', async () => {
    expect(await list('--user', ada.address)).toEqual({ code: 0, stdout: 'No order matches.\n', stderr: '' })
    expect(await list('--user', ada.address, '--json')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('ends with 4 for a chain that is not served, and with 130 when it is interrupted', async () => {
    const elsewhere = await commandLine(['orders', '--chain', '5'], { environment: environment() })
    expect([elsewhere.code, elsewhere.stderr]).toEqual([4, expect.stringContaining('(CHAIN_NOT_SUPPORTED)')])
    const listing = startCommandLine(['orders', '--chain', '31337'], { environment: environment() })
    listing.interrupt()
    expect((await listing.ended).code).toBe(130)
  })
})

it('orders prints the orders of the pages before one that fails', async () => {
  const many = await startChain({ bonded: 0 })
  onTestFinished(() => many.stop())
  const { actions, mine, order } = await createTraffic(many, { seed: 36 })
  const limited = await startEventService([many], { RATE_LIMIT_ORDER: '1' })
  onTestFinished(() => limited.close())
  const deposited = Array.from({ length: 201 }, () => order())
  await mine(deposited.map((one) => actions.deposit(one)))
  await eventually(
    () => limited.metric('aggregator_events_total', {}),
    (events) => events >= deposited.length,
  )
  const argv = ['orders', '--chain', String(many.chainId), '--limit', '300']
  const { code, stdout, stderr } = await commandLine(argv, { environment: { AGGREGATOR_URL: limited.url } })
  expect([code, stderr]).toEqual([
    exitCodeOf({ reason: 'RATE_LIMITED', httpStatus: 429 }),
    expect.stringContaining('(RATE_LIMITED)'),
  ])
  const newest = deposited.toReversed().slice(0, 200)
  expect(idsOf(stdout)).toEqual(newest.map(({ orderId }) => orderId))
})

describe('order', () => {
  it('shows the steps of a refunded order, and no others', async () => {
    const argv = ['order', orders[2].orderId, '--chain', '31337']
    const { stdout } = await commandLine(argv, { environment: environment() })
    const step = `${STEP}, block \\d+, transaction ${TRANSACTION}\n`
    expect(stdout).toMatch(new RegExp(`\nfilled by  .*\ndeposited  ${step}refunded   ${step}$`))
  })
})

describe('watch', () => {
  it('begins with the oldest event with --after earliest, and prints the transactions', async () => {
    const argv = ['watch', '--user', alice, '--after', 'earliest']
    const watching = startCommandLine(argv, { environment: environment() })
    await eventually(
      async () => watching.written.stdout,
      (text) => text.split('\n').length > 4,
    )
    watching.interrupt()
    const { code, stdout } = await watching.ended
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => {
        expect(line).toMatch(new RegExp(`  transaction ${TRANSACTION}$`))
        return line.split(' ')[0]
      })
    expect([code, types]).toEqual([0, ['Deposited', 'Deposited', 'Refunded', 'Settled']])
  })
})
