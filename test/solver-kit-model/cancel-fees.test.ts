import { expect, it } from 'vitest'
import { BASE_FEE, GAS, TIP } from '../support/model-chain/model-chain.js'
import type { KnownQuote } from './known-quotes.js'
import { type RunningSolver, startRunning, type Wanted } from './running-solver.js'
import { BOND, SOLVER } from './world.js'

/** What the kit wants for each open quote: a fifth more gas, twice the base fee, and twice that. */
const WANTED = 2n * ((GAS * 6n) / 5n) * (2n * BASE_FEE + TIP)
const TERMS = { depositSeconds: 60 }

it('what the budget allows is spent on what risks most, and the others stay open', async () => {
  const running = await startRunning('reference', { maxCancelFees: 3n * WANTED })
  const { ask, restart, cancelQuotes, passBlocks, isUnused } = running
  const asked = [await ask(1_000n, TERMS), await ask(30_000n, TERMS), await ask(1_000n, TERMS)]
  await restart(() => {}, { maxCancelFees: WANTED / 2n })
  const cancelled = cancelQuotes()
  await passBlocks(3)
  const outcomes = (await cancelled).map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['CANCELLED', 'OPEN', 'OPEN'])
  expect(asked.map((known) => known && isUnused(known))).toEqual([true, false, true])
})

it.each([
  ['deployed', 1],
  ['reference', 20],
] as const)(
  'on the %s contract, 20 quotes that nobody took are ended by %i transactions',
  async (rules, count) => {
    const running = await startRunning(rules, { maxPayments: 8 })
    const { ask, chain, solver, passBlocks } = running
    const before = chain.countOf(SOLVER)
    for (let index = 0; index < 20; index++) expect(await ask(100n)).toBeDefined()
    await passBlocks(25)
    expect([solver.metrics().openQuotes, chain.countOf(SOLVER) - before]).toEqual([0, count])
  },
)

const GWEI = 1_000_000_000n

it.each<[string, string, (running: RunningSolver, isWorse: boolean) => unknown]>([
  [
    'whose account has no coin',
    'too little for the gas',
    ({ node }, isWorse) => node.setBalance(isWorse ? 1n : 10n ** 18n),
  ],
  [
    'whose `maxFeePerGas` is not twice the base fee',
    'maxFeePerGas is below what a transaction needs',
    ({ chain }, isWorse) => chain.setBaseFee((isWorse ? 5n : 1n) * GWEI),
  ],
])(
  'a solver %s signs nothing, says so once, and signs again when it can pay for the end of a quote',
  async (_what, words, change) => {
    const running = await startRunning('reference', { maxFeePerGas: 8n * GWEI })
    const { ask, passBlocks, errors } = running
    const signed: boolean[] = []
    for (const isWorse of [true, false]) {
      change(running, isWorse)
      await passBlocks(5)
      for (let count = 0; count < 2; count++) signed.push((await ask(1_000n)) !== undefined)
    }
    expect(signed).toEqual([false, false, true, true])
    expect(errors()).toEqual([expect.stringContaining(words)])
  },
)

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
    await running.restartAfter(120, BLOCK_SECONDS)
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
