import { expect, it } from 'vitest'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { SOLVER } from './world.js'

const TERMS = { depositSeconds: 60, fillSeconds: 120 }
/** The kit raises the fees of a payment that waits after 15 s, and counts a transaction without a receipt as replaced after 60. */
const SOON = 15
const HIGH_TIP = 2_500_000_000n

/** A solver whose payment the node has lost, and which it would now refuse. */
async function startLost() {
  const running = await startRunning()
  const { chain, ask, deposit, passBlocks, passHeld } = running
  const [known, other] = [await ask(1_000n, TERMS), await ask(1_000n, TERMS)] as [KnownQuote, KnownQuote]
  deposit(known)
  await passBlocks(1)
  await passHeld(1)
  expect(chain.pendingCount() - chain.countOf(SOLVER)).toBe(1)
  chain.dropPool()
  chain.setMinTip(HIGH_TIP)
  return { ...running, known, other }
}

it('a payment that the node has lost is sent again with the least tip that it now takes', async () => {
  const { passBlocks, isPaid, known } = await startLost()
  await passBlocks(SOON)
  expect(isPaid(known)).toBe(true)
})

it('a payment that the node has lost keeps its nonce over a restart, while another order is paid', async () => {
  const { passBlocks, isPaid, restart, transfer, chain, known, other } = await startLost()
  await restart(() => {
    transfer(other)
    chain.mine(chain.head().timestamp + 2)
  })
  await passBlocks(SOON)
  expect(isPaid(known)).toBe(true)
  await passBlocks(SOON)
  expect(isPaid(other)).toBe(true)
})
