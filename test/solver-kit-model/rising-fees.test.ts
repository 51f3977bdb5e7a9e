import { expect, it } from 'vitest'
import { BASE_FEE } from '../support/model-chain/model-chain.js'
import type { KnownQuote } from './known-quotes.js'
import { type RunningSolver, startRunning, type Wanted } from './running-solver.js'
import { BOND, SOLVER } from './world.js'

const BLOCK_SECONDS = 12

async function askFor(count: number, milli: bigint, { quoteFor }: RunningSolver, wanted: Wanted) {
  const asked: KnownQuote[] = []
  for (let index = 0; index < count; index++) asked.push(await quoteFor(milli, wanted))
  return asked
}

it.each([240n, 400n])(
  'base fees that rise to %i %% while small quotes are cancelled keep no large quote from its end',
  async (percent) => {
    const running = await startRunning('reference', { maxCancelFees: 10n ** 18n, pollIntervalMs: 1_000 })
    const { chain, passBlocks, isUnused, slash, bond } = running
    // The time between blocks is measured.
    await passBlocks(120, BLOCK_SECONDS)
    const small = await askFor(16, 1n, running, { depositSeconds: 60 })
    const large = await askFor(5, 39_900n, running, { depositSeconds: 60 + BLOCK_SECONDS + 1 })
    const [first, last] = [small[0]?.quote.depositDeadline ?? 0, large[0]?.quote.fillDeadline ?? 0]
    while (chain.head().timestamp <= first) await passBlocks(1, BLOCK_SECONDS)
    expect(chain.pendingCount() - chain.countOf(SOLVER)).toBe(16)
    await passBlocks(1, BLOCK_SECONDS, { holdsSigned: true })
    chain.setBaseFee((BASE_FEE * percent) / 100n)
    while (chain.head().timestamp < last) await passBlocks(1, BLOCK_SECONDS)
    expect(large.filter(isUnused)).toHaveLength(0)
    for (const known of small.filter(isUnused)) slash(known)
    await passBlocks(1, BLOCK_SECONDS)
    expect(bond()).toBe(BOND)
  },
)
