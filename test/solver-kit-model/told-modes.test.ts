import { expect, it } from 'vitest'
import { modeOfNonce } from '../../packages/protocol/src/quotes/nonce-mode.js'
import { RULES } from '../support/chain/chain.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { startRunning } from './running-solver.js'
import { BOND, USERS, WETH } from './world.js'

it.each(RULES)(
  'a transfer that comes after the deposit deadline is given back on the %s contract',
  async (rules) => {
    const { quoteFor, transfer, passBlocks, refund, stateOf, contracts, passBeyond } =
      await startRunning(rules)
    const known = await quoteFor(1_000n, { isForAddress: true })
    await passBeyond(known.quote.depositDeadline + 8)
    const before = contracts.token(WETH).balanceOf(USERS[0])
    transfer(known)
    await passBeyond(known.quote.fillDeadline)
    if (stateOf(known) !== OrderState.SETTLED) {
      refund('refundAddressDeposit', known)
      await passBlocks(1)
      expect(contracts.token(WETH).balanceOf(USERS[0]) - before).toBe(known.quote.inputAmount)
    }
  },
)

it.each([
  { isForAddress: false, mode: 'CONTRACT', outcome: 'CANCELLED' },
  { isForAddress: true, mode: 'ADDRESS', outcome: 'KEPT' },
])(
  'a quote that was told $mode says so in its nonce, and `cancelQuotes` finds it $outcome where the contract keeps tokens',
  async ({ isForAddress, mode, outcome }) => {
    const { quoteFor, transfer, passBlocks, cancelQuotes } = await startRunning('deployed')
    const known = await quoteFor(1_000n, { isForAddress })
    expect(modeOfNonce(known.quote.nonce)).toBe(mode)
    transfer(known, (known.quote.inputAmount * 95n) / 100n)
    await passBlocks(1)
    const cancelling = cancelQuotes()
    await passBlocks(3)
    expect(await cancelling).toEqual([{ orderId: known.orderId, outcome }])
  },
)

it('a quote for an address that nobody pays is cancelled in the second half of its fill window, and costs no bond', async () => {
  const { quoteFor, passBlocks, isUnused, slash, bond, passBeyond } = await startRunning('deployed')
  const known = await quoteFor(1_000n, { isForAddress: true })
  const { depositDeadline, fillDeadline } = known.quote
  await passBeyond((depositDeadline + fillDeadline) / 2)
  expect(isUnused(known)).toBe(true)
  await passBlocks(5)
  expect(isUnused(known)).toBe(false)
  await passBeyond(fillDeadline)
  slash(known)
  await passBlocks(2)
  expect(bond()).toBe(BOND)
})
