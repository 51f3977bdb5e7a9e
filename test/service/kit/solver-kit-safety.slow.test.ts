import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Message, startSessionServer } from '../../../packages/solver/test/session/session-server.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { PRICE, WETH_UNIT } from '../../support/solver-kit/fixed-price.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

const [account] = solverAccounts

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

/** Why the only solver declined. */
async function declineCode(terms: Record<string, unknown> = {}): Promise<string | undefined> {
  const { status, body } = await market.ask(terms)
  if (status === 200) return undefined
  const { body: record } = await market.service.get(`/v1/${market.chain.chainId}/quote/${body.quoteId}`)
  return record.solvers?.[0]?.declineCode
}

it('open quotes use up the balance, and deposits at the contract keep it in use until they are paid', async () => {
  const { usdc } = market.chain.contracts
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const solver = market.solver({ fill: async (order) => released.then(() => order.fill()) })
  await solver.start()
  const balance = await market.calls.balanceOf(usdc, account.address)
  const quarter = String((balance / 4n / PRICE) * WETH_UNIT)
  await market.calls.mint(market.chain.contracts.weth, user.address, 2n * BigInt(quarter))
  const offer = await market.quote({ amount: quarter })
  for (let count = 1; count < 4; count++) expect(await declineCode({ amount: quarter })).toBeUndefined()
  expect(await declineCode({ amount: quarter })).toBe('INSUFFICIENT_LIQUIDITY')
  expect(solver.metrics()).toMatchObject({ openQuotes: 4, declinedForLiquidity: 1 })
  await market.deposit(offer)
  await expect.poll(() => solver.metrics().deposits).toBe(1)
  expect(await declineCode({ amount: quarter })).toBe('INSUFFICIENT_LIQUIDITY')
  release()
  await expect.poll(() => solver.filled).toEqual([offer.orderId])
  // The account has more again, and the other quotes still count.
  await market.calls.mint(usdc, account.address, balance)
  await expect.poll(() => declineCode({ amount: quarter })).toBeUndefined()
})

it('a decline for want of tokens or bond is in the log with what is too low', async () => {
  const lines: object[] = []
  const log = { debug() {}, info: (fields: object) => lines.push(fields), warn() {}, error() {} }
  const solver = market.solver({ log })
  await solver.start()
  expect(await declineCode({ amount: String(10n ** 12n * WETH_UNIT) })).toBe('INSUFFICIENT_LIQUIDITY')
  const outputToken = market.chain.contracts.usdc.toLowerCase()
  expect(lines).toContainEqual(expect.objectContaining({ outputToken, shortage: 'PAYABLE' }))
})

it('a solver whose node does not answer declines, and fills when it answers again', async () => {
  const proxy = await startRpcProxy(market.chain.devnet.rpcUrl)
  onTestFinished(() => proxy.close())
  const { chains } = market.solverOptions()
  const [terms] = Object.values(chains)
  if (terms === undefined) throw new Error('no chain')
  const solver = market.solver({ chains: { [market.chain.chainId]: { ...terms, rpc: proxy.url } } })
  await solver.start()
  const offer = await market.quote({ depositWindow: 60 })
  proxy.setUp(false)
  await market.deposit(offer)
  await expect.poll(() => declineCode()).toBe('PAUSED')
  expect(solver.filled).toEqual([])
  proxy.setUp(true)
  await expect.poll(() => solver.filled).toEqual([offer.orderId])
  await expect.poll(() => declineCode()).toBeUndefined()
})

it('events of a hostile instance make a solver pay nothing', async () => {
  const instance = await startSessionServer()
  onTestFinished(() => instance.close())
  const { chainId } = market.chain
  const before = await market.countTransactions(account)
  const solver = market.solver({ aggregatorUrl: instance.url })
  const starting = solver.start()
  await expect.poll(() => instance.connections.length).toBe(1)
  const connection = instance.connections[0]
  if (connection === undefined) throw new Error('no connection')
  connection.challenge()
  await expect.poll(() => connection.received).toMatchObject([{ type: 'hello' }])
  connection.accept()
  await starting
  const event = { type: 'Deposited', chainId, orderId: `0x${'ab'.repeat(32)}`, fillDeadline: 4_000_000_000 }
  connection.send({ type: 'event', event, cursor: 'c1' })
  // An answer to a later message: the event has been processed.
  connection.send({ type: 'ping', id: 'p' })
  await expect.poll(() => connection.received.map((message: Message) => message.type)).toContain('pong')
  expect([solver.metrics().deposits, solver.metrics().openOrders, solver.errors]).toEqual([0, 0, []])
  expect(await market.countTransactions(account)).toBe(before)
})

it('a payment that a reorganisation removes is sent again', async () => {
  const { client } = market.calls
  const held: (() => void)[] = []
  const solver = market.solver({
    fill: async (order) => {
      await new Promise<void>((resolve) => held.push(resolve))
      await order.fill()
    },
  })
  await solver.start()
  const offer = await market.quote({ depositWindow: 600 })
  await market.deposit(offer)
  await expect.poll(() => held).toHaveLength(1)
  const id = await client.snapshot()
  held[0]?.()
  await expect.poll(() => solver.filled).toEqual([offer.orderId])
  await client.revert({ id })
  await client.mine({ blocks: 3 })
  await expect.poll(() => solver.filled).toEqual([offer.orderId, offer.orderId])
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect(solver.metrics()).toMatchObject({ paymentsSent: 1, filled: 2 })
})

/** The last test: the chain's time is ahead from then on. */
it('an order that cannot be paid in time is reported as missed, and its quote no longer counts', async () => {
  const solver = market.solver({ fill: () => Promise.reject(new Error('no')) })
  await solver.start()
  const offer = await market.quote()
  await market.deposit(offer)
  await expect.poll(() => solver.metrics().deposits).toBe(1)
  const { client } = market.calls
  await client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.fillDeadline) + 1n })
  await client.mine({ blocks: 1 })
  await expect
    .poll(() => solver.metrics())
    .toMatchObject({ deposits: 1, missed: 1, filled: 0, openQuotes: 0 })
  expect(solver.errors.map(String)).toContain(
    `Error: order ${offer.orderId} on chain ${market.chain.chainId} was not paid by its fill deadline`,
  )
})
