import { toFunctionSelector } from 'viem'
import { expect, it } from 'vitest'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { startRunning } from './running-solver.js'
import { BOND } from './world.js'

const ORDERS = toFunctionSelector('orders(bytes32)')
/** What the contract says of an order that is not there: zeros, and as many as any contract returns. */
const NO_ORDER = `0x${'00'.repeat(32 * 12)}`

it('an order of the last second is paid, although a node that lags does not show it for some blocks', async () => {
  const running = await startRunning('deployed', { pollIntervalMs: 1_000 })
  const { ask, quoteFor, deposit, passBlocks, chain, stateOf, isPaid, bond, node } = running
  // The kit learns from a quote that has ended what the contract does at addresses.
  await ask(1_000n)
  await passBlocks(60)
  const known = await quoteFor(39_900n, { depositSeconds: 10 })
  let isLagging = false
  node.intercept(({ method, params = [] }, answer) => {
    const { data = '' } = Object(params[0])
    const isRead = method === 'eth_call' && data.startsWith(ORDERS) && data.includes(known.orderId.slice(2))
    return isLagging && isRead ? NO_ORDER : answer()
  })
  while (chain.head().timestamp < known.quote.depositDeadline - 2) await passBlocks(1)
  deposit(known)
  isLagging = true
  await passBlocks(1)
  expect(stateOf(known)).toBe(OrderState.DEPOSITED)
  await passBlocks(3)
  isLagging = false
  await passBlocks(20)
  expect(isPaid(known)).toBe(true)
  expect(bond()).toBe(BOND)
})
