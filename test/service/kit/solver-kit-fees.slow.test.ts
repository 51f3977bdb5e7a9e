import { type Hex, numberToHex, parseGwei } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { FilledOrder } from '../../../packages/solver/src/orders/order-terms.js'
import type { ChainOptions } from '../../../packages/solver/src/solver-options.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
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
function chainsWith(terms: Partial<ChainOptions>) {
  const { chainId } = market.chain
  const { [chainId]: usual } = market.solverOptions().chains
  if (usual === undefined) throw new Error('no chain')
  return { [chainId]: { ...usual, raiseFeesAfterMs: 300, ...terms } }
}

/** From now on, the test mines. */
async function stopMining() {
  const { client } = market.calls
  await client.setAutomine(false)
  onTestFinished(() => client.setAutomine(true))
}

/** Deposits orders in one block. Their payments are sent after it. */
async function depositAll(offers: readonly Offer[]) {
  const deposits: Promise<unknown>[] = []
  for (const offer of offers) {
    deposits.push(market.deposit(offer))
    // The user's account takes its nonces one after the other.
    await eventually(market.pendingCount, (count) => count === deposits.length)
  }
  await market.calls.client.mine({ blocks: 1 })
  await Promise.all(deposits)
}

async function mineBlockOf(baseFeePerGas: bigint) {
  const { client } = market.calls
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas })
  await client.mine({ blocks: 1 })
}

/** The next block has a base fee that no waiting payment can pay. */
const mineExpensiveBlock = () => mineBlockOf(HIGH_BASE_FEE)

const mineUntil = (isDone: () => boolean) =>
  eventually(async () => {
    await mineBlockOf(parseGwei('1'))
    return isDone()
  }, Boolean)

it('an order whose payment is stuck is filled once, with higher fees and the same nonce', async () => {
  const filled: FilledOrder[] = []
  const solver = market.solver({ chains: chainsWith({}), onFilled: (order) => filled.push(order) })
  await solver.start()
  const offer = await market.quote()
  const before = await market.countTransactions(account)
  await stopMining()
  await depositAll([offer])
  const [first] = await eventually(
    () => market.pendingOf(account),
    (pending) => pending.length === 1,
  )
  await mineExpensiveBlock()
  await expect.poll(() => solver.metrics().feesRaised).toBeGreaterThan(0)
  await mineUntil(() => filled.length > 0)
  const mined = await market.calls.client.getTransaction({ hash: filled[0]?.transactionHash ?? '0x' })
  expect([first?.nonce, mined.nonce]).toEqual([before, before])
  for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
    expect(8n * (mined[fee] ?? 0n)).toBeGreaterThanOrEqual(9n * (first?.[fee] ?? 0n))
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect((await market.countTransactions(account)) - before).toBe(1)
  expect([solver.errors, filled.length, solver.metrics().paymentsSent]).toEqual([[], 1, 1])
})

it('an order is filled once when its first attempt is mined after a later one was signed', async () => {
  const proxy = await startRpcProxy(market.chain.devnet.rpcUrl)
  onTestFinished(() => proxy.close())
  const filled: FilledOrder[] = []
  const chains = chainsWith({ rpc: proxy.url })
  const solver = market.solver({ chains, onFilled: (order) => filled.push(order) })
  await solver.start()
  const offer = await market.quote()
  const before = await market.countTransactions(account)
  await stopMining()
  await depositAll([offer])
  const [first] = await eventually(
    () => market.pendingOf(account),
    (pending) => pending.length === 1,
  )
  proxy.intercept(async ({ method }, pass) => {
    if (method === 'eth_sendRawTransaction') return { error: { code: -32000, message: 'no' } }
    const answer = await pass()
    if (method !== 'eth_getBlockByNumber') return answer
    return { result: { ...(answer.result as object), baseFeePerGas: numberToHex(HIGH_BASE_FEE) } }
  })
  await expect.poll(() => solver.metrics().feesRaised).toBeGreaterThan(0)
  await market.calls.client.mine({ blocks: 1 })
  await expect.poll(() => filled).toMatchObject([{ transactionHash: first?.hash }])
  expect((await market.countTransactions(account)) - before).toBe(1)
  expect(solver.errors).toEqual([])
})

it('fees do not rise above the limit, and the payment is mined when the base fee falls', async () => {
  const maxFeePerGas = HIGH_BASE_FEE / 2n
  const solver = market.solver({ chains: chainsWith({ maxFeePerGas }) })
  await solver.start()
  const offer = await market.quote({ depositWindow: 60 })
  await stopMining()
  await depositAll([offer])
  await eventually(
    () => market.pendingOf(account),
    (pending) => pending.length === 1,
  )
  await eventually(async () => {
    await mineExpensiveBlock()
    return solver.errors.length
  }, Boolean)
  expect(String(solver.errors)).toContain('waits, and has the highest fees')
  const hashes: (Hex | undefined)[] = []
  for (const { maxFeePerGas: offered = 0n, hash } of await market.pendingOf(account)) {
    expect(offered).toBeLessThanOrEqual(maxFeePerGas)
    hashes.push(hash)
  }
  expect(hashes.length).toBeLessThan(2)
  // Empty blocks make the base fee fall.
  await mineUntil(() => solver.filled.length > 0)
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect(solver.errors).toHaveLength(1)
})
