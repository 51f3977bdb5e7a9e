import { toFunctionSelector } from 'viem'
import { expect, it } from 'vitest'
import { RULES } from '../support/chain/chain.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { type RunningSolver, startRunning } from './running-solver.js'
import { BOND, SETTLEMENT, SOLVER, USDC } from './world.js'

const ORDERS = toFunctionSelector('orders(bytes32)')
const BALANCE = toFunctionSelector('balanceOf(address)')

/** Calls without a block are answered by a node that is one block behind, if they begin so. @returns ends that */
function lag({ node, chain }: RunningSolver, begins: string): () => void {
  let isLagging = true
  node.intercept(({ method, params = [] }, answer) => {
    const [call, tag] = params as [{ data?: string }, string | undefined]
    const isRead = method === 'eth_call' && (tag ?? 'latest') === 'latest' && call.data?.startsWith(begins)
    return isLagging && isRead ? answer([call, `0x${(chain.head().number - 1).toString(16)}`]) : answer()
  })
  return () => {
    isLagging = false
  }
}

it.each(RULES)(
  'an order of the newest block is never called cancelled where another node does not show it yet: %s',
  async (rules) => {
    const running = await startRunning(rules, { pollIntervalMs: 1_000 })
    const { quoteFor, deposit, passBlocks, cancelQuotes, chain, isPaid, pass } = running
    await passBlocks(5)
    const known = await quoteFor(1_000n, { depositSeconds: 300, fillSeconds: 120 })
    await passBlocks(3)
    const endLag = lag(running, ORDERS)
    deposit(known)
    chain.mine(chain.head().timestamp + 2)
    const cancelling = cancelQuotes()
    await pass(10)
    await passBlocks(2)
    endLag()
    await passBlocks(6)
    expect(await cancelling).toEqual([{ orderId: known.orderId, outcome: 'TAKEN' }])
    expect(isPaid(known)).toBe(true)
  },
)

it('what was paid is promised to nobody else, although a node still shows the balance of before', async () => {
  const running = await startRunning(
    'reference',
    { pollIntervalMs: 1_000 },
    { maxBondShare: 1, maxOpenBond: 1 },
  )
  const { ask, quoteFor, deposit, passBlocks, contracts, isPaid } = running
  contracts.set(() => {
    contracts.settlement.setBond(SOLVER, { totalBond: 2_000n * BOND })
    contracts.token(contracts.settlement.bondToken.address).mint(SETTLEMENT, 2_000n * BOND)
  })
  await passBlocks(5)
  const first = await quoteFor(99_000n, { depositSeconds: 30 })
  lag(running, BALANCE)
  deposit(first)
  let promised = 0n
  for (let block = 0; block < 8; block++) {
    await passBlocks(1)
    for (let count = 0; count < 4; count++)
      promised += (await ask(60_000n, { depositSeconds: 40 }))?.quote.outputAmount ?? 0n
  }
  expect(isPaid(first)).toBe(true)
  expect(promised).toBeLessThanOrEqual(contracts.token(USDC).balanceOf(SOLVER))
  expect(promised).toBeGreaterThan(0n)
})

it('one block with a time that is too late gives up no order', async () => {
  const { quoteFor, deposit, passBlocks, chain, node, stateOf, metrics } = await startRunning('reference', {
    pollIntervalMs: 1_000,
  })
  await passBlocks(10)
  const known = await quoteFor(39_000n, { depositSeconds: 60, fillSeconds: 120 })
  const hash = `0x${'aa'.repeat(32)}`
  let polls = 0
  node.intercept(({ method, params = [] }, answer) => {
    const isLatest = method === 'eth_getBlockByNumber' && params[0] === 'latest'
    const isOwn = method === 'eth_getBlockByHash' && params[0] === hash
    if (!isOwn && !(isLatest && polls-- > 0)) return answer()
    const { number, timestamp } = chain.head()
    const latest = answer(['latest', false]) as object
    return {
      ...latest,
      number: `0x${(number + 1).toString(16)}`,
      hash,
      timestamp: `0x${(timestamp + 200).toString(16)}`,
    }
  })
  deposit(known)
  polls = 1
  await passBlocks(10)
  expect([stateOf(known), metrics().missed]).toEqual([OrderState.SETTLED, 0])
})
