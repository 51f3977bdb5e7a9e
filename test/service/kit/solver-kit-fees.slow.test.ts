import { parseGwei } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { FilledOrder } from '../../../packages/solver/src/orders/order-terms.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { type Market, type Offer, startMarket } from '../../support/solver-kit/market.js'

const [account] = solverAccounts
/** More than the first attempts offer. */
const HIGH_BASE_FEE = parseGwei('60')

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
// The first attempts of each test offer as little.
beforeEach(() => mineBlockOf(parseGwei('1')))
afterAll(() => market?.close())

/** The terms of the chain, with payments that soon count as waiting. */
function impatientChains() {
  const { chainId } = market.chain
  const { [chainId]: usual } = market.solverOptions().chains
  if (usual === undefined) throw new Error('no chain')
  return { [chainId]: { ...usual, raiseFeesAfterMs: 300 } }
}

/** From now on, the test mines. The payment of the deposit is sent after its block. */
async function depositByHand(offer: Offer) {
  const { client } = market.calls
  await client.setAutomine(false)
  onTestFinished(() => client.setAutomine(true))
  const deposit = market.deposit(offer)
  await eventually(market.pendingCount, (count) => count === 1)
  await client.mine({ blocks: 1 })
  await deposit
}

async function mineBlockOf(baseFeePerGas: bigint) {
  const { client } = market.calls
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas })
  await client.mine({ blocks: 1 })
}

it('an order whose payment is stuck is filled once, with higher fees and the same nonce', async () => {
  const filled: FilledOrder[] = []
  const solver = market.solver({ chains: impatientChains(), onFilled: (order) => filled.push(order) })
  await solver.start()
  const offer = await market.quote()
  const before = await market.countTransactions(account)
  await depositByHand(offer)
  const [first] = await eventually(
    () => market.pendingOf(account),
    (pending) => pending.length === 1,
  )
  await mineBlockOf(HIGH_BASE_FEE)
  await expect.poll(() => solver.metrics().feesRaised).toBeGreaterThan(0)
  await eventually(async () => {
    await mineBlockOf(parseGwei('1'))
    return filled.length > 0
  }, Boolean)
  const mined = await market.calls.client.getTransaction({ hash: filled[0]?.transactionHash ?? '0x' })
  expect([first?.nonce, mined.nonce]).toEqual([before, before])
  for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
    expect(8n * (mined[fee] ?? 0n)).toBeGreaterThanOrEqual(9n * (first?.[fee] ?? 0n))
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect((await market.countTransactions(account)) - before).toBe(1)
  expect([solver.errors, filled.length, solver.metrics().paymentsSent]).toEqual([[], 1, 1])
})
