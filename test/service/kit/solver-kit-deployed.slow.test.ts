import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SolverOptions } from '../../../packages/solver/src/solver-options.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import { deferred } from '../../support/deferred.js'
import { PRICE, WETH_UNIT } from '../../support/solver-kit/fixed-price.js'
import { type Market, type Offer, startMarket } from '../../support/solver-kit/market.js'
import { contractStruct } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const QUOTES = 50

let market: Market

beforeAll(async () => {
  market = await startMarket({}, 'deployed')
})
afterAll(() => market?.close())

/** The options of the chain, changed. */
function chainsWith(change: object): SolverOptions['chains'] {
  const { chains } = market.solverOptions()
  return { [market.chain.chainId]: { ...Object.values(chains)[0], ...change } } as SolverOptions['chains']
}

async function passTo(seconds: number): Promise<void> {
  await market.calls.client.setNextBlockTimestamp({ timestamp: BigInt(seconds) })
  await market.calls.client.mine({ blocks: 1 })
}

it('an order with less input than was quoted is paid once the market maker accepts it', async () => {
  const { contracts, devnet } = market.chain
  const fee = await compileSource('FeeToken').deploy(devnet)
  await market.calls.mint(fee, user.address, WETH_UNIT)
  await market.calls.approve(fee, user, WETH_UNIT)
  const { opened: accepted, open: accept } = deferred()
  const asked: unknown[] = []
  const solver = market.solver({
    chains: chainsWith({ tokens: [fee, contracts.usdc] }),
    quote: ({ amount }) => ({ amount: (amount * PRICE) / WETH_UNIT }),
    acceptLess({ inputAmount, orderId }) {
      asked.push([orderId, inputAmount])
      return accepted.then(() => true)
    },
  })
  await solver.start()
  const offer = await market.quote({ inputToken: fee })
  await market.deposit(offer)
  const arrived = (WETH_UNIT * 99n) / 100n
  await expect.poll(() => asked).toEqual([[offer.orderId, arrived]])
  accept()
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect([asked.length, solver.errors]).toEqual([1, []])
})

it('quotes that nobody took are ended by one transaction', async () => {
  const solver = market.solver()
  await solver.start()
  const before = await market.countTransactions(account)
  const offers: Offer[] = []
  while (offers.length < QUOTES) offers.push(await market.quote({ amount: String(WETH_UNIT / 100n) }))
  expect(solver.metrics().openQuotes).toBe(QUOTES)
  await passTo(Number((offers.at(-1) as Offer).quote.depositDeadline) + 1)
  // A block that is far ahead counts when another one follows it.
  const openAfterBlock = async () => {
    await market.calls.client.mine({ blocks: 1 })
    return solver.metrics().openQuotes
  }
  await expect.poll(openAfterBlock).toBe(0)
  const used = offers.map(({ quote }) =>
    market.calls.view.isNonceUsed([account.address, BigInt(quote.nonce)]),
  )
  expect(await Promise.all(used)).toEqual(offers.map(() => true))
  expect((await market.countTransactions(account)) - before).toBe(1)
  expect(solver.errors).toEqual([])
})

it('an order whose bond the contract has released cannot be filled, and the error names it', async () => {
  const { opened: released, open: release } = deferred()
  const solver = market.solver({
    fill: async (order) => released.then(() => order.fill()),
  })
  await solver.start()
  const { timestamp } = await market.calls.client.getBlock()
  const ahead = Math.max(0, Number(timestamp) - Math.floor(Date.now() / 1000))
  const other = await market.quote({ depositWindow: ahead + 60, depositMode: 'ADDRESS' })
  const offer = await market.quote({ depositWindow: ahead + 1_000 })
  await market.deposit(offer)
  await expect.poll(() => solver.metrics().deposits).toBe(1)
  // In the first block after the deposit deadline: too late for `settle`, and kept for its user.
  const timestampAfter = BigInt(other.quote.depositDeadline) + 1n
  await market.calls.client.setNextBlockTimestamp({ timestamp: timestampAfter })
  await market.payAddress(other)
  await passTo(Number(other.quote.fillDeadline) + 1)
  const struct = contractStruct(other.quote)
  await market.calls.send(user, 'refundAddressDeposit', [struct, other.solverSignature])
  release()
  await expect
    .poll(() => solver.errors.map((error) => (error as Error).message))
    .toContain(
      `order ${offer.orderId} cannot be filled: the contract has released the bond that was reserved for it (Panic 17)`,
    )
})
