import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { BASE_FEE, GAS, TIP } from './model-chain.js'
import { startRunning } from './running-solver.js'
import { CHAIN_ID, SOLVER } from './world.js'

/** What the kit wants for each open quote: a fifth more gas, viem's fifth more base fee, and twice that. */
const WANTED = 2n * ((GAS * 6n) / 5n) * ((BASE_FEE * 6n) / 5n + TIP)
const TERMS = { depositSeconds: 60 }

beforeAll(() => {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER }))
})
afterAll(() => void vi.unstubAllGlobals())

it('quotes whose end the hour might not pay for are declined, which is reported once, until there is room', async () => {
  const running = await startRunning('reference', { maxCancelFees: 2n * WANTED })
  const { ask, errors, passBlocks, solver, end } = running
  const asked = [await ask(1_000n, TERMS), await ask(1_000n, TERMS), await ask(1_000n, TERMS)]
  expect(asked.map((known) => known !== undefined)).toEqual([true, true, false])
  expect(errors()).toEqual([expect.stringContaining('more than maxCancelFees in an hour')])
  await passBlocks(35)
  expect(solver.metrics().openQuotes).toBe(0)
  await passBlocks(60, 60)
  await passBlocks(40)
  expect([await ask(1_000n, TERMS), await ask(1_000n, TERMS)]).not.toContain(undefined)
  end()
})

it('when fees rise beyond the budget, what risks most is cancelled, and the others stay open', async () => {
  const running = await startRunning('reference', { maxCancelFees: 3n * WANTED })
  const { ask, chain, passBlocks, solver, isUnused, end } = running
  const small = [await ask(1_000n, TERMS), await ask(1_000n, TERMS)]
  const large = await ask(30_000n, TERMS)
  chain.setMinTip(8n * TIP)
  const cancelled = solver.cancelQuotes(CHAIN_ID)
  await passBlocks(3)
  const outcomes = (await cancelled).map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['CANCELLED', 'OPEN', 'OPEN'])
  expect([...small, large].map((known) => known && isUnused(known))).toEqual([true, true, false])
  end()
})
