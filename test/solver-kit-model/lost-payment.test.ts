import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { toKnown } from './known-quotes.js'
import { OrderState } from './settlement-state.js'
import { CHAIN_ID, createWorld, SETTLEMENT, SOLVER, settlementCall, USDC, USERS, WETH } from './world.js'

/** The kit raises the fees of a payment that waits after this time. */
const RAISES_AFTER_SECONDS = 15

beforeAll(() => {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER }))
})
afterAll(() => void vi.unstubAllGlobals())

it('a payment that the node has lost is sent again with the least tip that it now takes', async () => {
  const world = createWorld('reference')
  const { chain, clock } = world
  const passBlock = async (holdsSigned = false) => {
    await clock.advance(1000)
    chain.mine(chain.head().timestamp + 2, { holdsSigned })
    await clock.advance(1000)
  }
  const incarnation = world.start()
  await incarnation.node.asked
  while (incarnation.progress === 'starting') await passBlock()
  const body = {
    inputToken: WETH,
    outputToken: USDC,
    orderType: 'EXACT_INPUT',
    amount: String(WETH_UNIT),
    userAddress: USERS[0],
    chainId: CHAIN_ID,
    depositMode: 'CONTRACT',
    depositDeadline: chain.head().timestamp + 60,
    fillDeadline: chain.head().timestamp + 180,
  }
  const { body: answer } = await incarnation.solver.answer({ body, headers: {} })
  const known = toKnown(world, answer as never, { isIndicative: false, isForAddress: false })
  chain.act(USERS[0], SETTLEMENT, settlementCall('deposit', [known.quote, known.signature]))
  await passBlock()
  await passBlock(true)
  expect(chain.pendingCount() - chain.countOf(SOLVER)).toBe(1)
  chain.dropPool()
  chain.setMinTip(2_500_000_000n)
  const lostAt = chain.head().timestamp
  const state = () => world.contracts.settlement.order(known.orderId).state
  while (state() !== OrderState.SETTLED && chain.head().timestamp < lostAt + 2 * RAISES_AFTER_SECONDS)
    await passBlock()
  expect(state()).toBe(OrderState.SETTLED)
  world.kill(incarnation)
})
