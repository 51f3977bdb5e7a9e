import { expect, it } from 'vitest'
import { RULES } from '../support/chain/chain.js'
import { BASE_FEE, GAS, TIP } from '../support/model-chain/model-chain.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { rounds } from '../support/rounds.js'
import type { KnownQuote } from './known-quotes.js'
import { type RunningSolver, startRunning, type Wanted } from './running-solver.js'
import { BOND } from './world.js'

const DUST = 1n
/** A tenth of the bond, nearly. */
const LARGE = 39_900n
/** What a cancellation costs on the chain of the model. */
const COST = GAS * (BASE_FEE + TIP)

/** The cases of a table that a run plays: all of them, or the first one. */
const some = <const T>(...cases: readonly T[]) => cases.slice(0, rounds(cases.length, 1))

/** @returns what is signed of so many requests */
async function flood({ ask }: RunningSolver, count: number, milli: bigint, wanted: Wanted) {
  const signed: KnownQuote[] = []
  for (let asked = 0; asked < count; asked++) {
    const known = await ask(milli, wanted)
    if (known !== undefined) signed.push(known)
  }
  return signed
}

/** Plays on, and pays at each address as soon as it is too late. */
async function slashAll(running: RunningSolver, quotes: readonly KnownQuote[]) {
  const { chain, passBlocks, slash, isUnused } = running
  let waiting = quotes
  while (waiting.length > 0) {
    await passBlocks(1)
    const over = waiting.filter(({ quote }) => chain.head().timestamp >= quote.fillDeadline)
    for (const known of over.filter(isUnused)) slash(known)
    waiting = waiting.filter((known) => !over.includes(known))
  }
  await passBlocks(2)
}

it.each(RULES)('dust does not spend the fees that large quotes need on the %s contract', async (rules) => {
  const running = await startRunning(rules, { maxCancelFees: 60n * COST })
  const dust = await flood(running, 70, DUST, { depositSeconds: 14 })
  const large = await flood(running, 5, LARGE, { depositSeconds: 200 })
  expect(dust.length).toBeGreaterThan(0)
  await slashAll(running, [...dust, ...large])
  expect(running.bond()).toBe(BOND)
})

/** Takes so many calls in a second, and refuses the others as providers do. */
function limited(clock: RunningSolver['clock'], callsPerSecond: number) {
  const taken: number[] = []
  return (_asked: unknown, answer: () => unknown) => {
    while ((taken[0] ?? Number.POSITIVE_INFINITY) <= clock.monotonic() - 1_000) taken.shift()
    if (taken.length >= callsPerSecond)
      throw Object.assign(new Error('daily request count exceeded, request rate limited'), { code: -32005 })
    taken.push(clock.monotonic())
    return answer()
  }
}

it.each(
  some(['whose calls take 1 s', 1_000], ['whose calls take 0.3 s', 300], ['that takes 30 calls a second', 0]),
)(
  'all that a node %s lets sign is paid in a fill window, when it is deposited at once in the end',
  async (_how, callMs) => {
    const running = await startRunning('deployed', { pollIntervalMs: 1_000, maxCancelFees: 10n ** 18n })
    const { deposit, refund, passBlocks, restartAfter, chain, stateOf, bond, passBeyond } = running
    await restartAfter(120, 2, ({ node, clock }) => {
      if (callMs === 0) node.intercept(limited(clock, 30))
      else node.intercept((_asked, answer) => clock.sleep(callMs).then(() => answer()))
    })
    await passBlocks(5)
    const quotes = await flood(running, 400, 640n, { depositSeconds: 40, fillSeconds: 60 })
    expect(quotes.length).toBeGreaterThan(callMs === 1_000 ? 40 : 100)
    const { depositDeadline, fillDeadline } = (quotes[0] as KnownQuote).quote
    while (chain.head().timestamp < depositDeadline - 4) await passBlocks(1)
    for (const quote of quotes) deposit(quote)
    await passBeyond(fillDeadline)
    for (const quote of quotes) if (stateOf(quote) !== OrderState.SETTLED) refund('refund', quote)
    await passBlocks(2)
    expect(bond()).toBe(BOND)
  },
)

it.each(some(500_000000n, 50_000000n))(
  'for a day after a slash, no quote is spared: who slashes those of `cancelAbove` %i again and again takes a twentieth once',
  async (cancelAbove) => {
    const running = await startRunning('reference', { cancelAbove })
    const milli = (cancelAbove * 20_000n) / 2_500_000000n
    for (let round = 0; round < 6; round++) {
      const asked = await flood(running, Number(BOND / 20n / cancelAbove), milli, { depositSeconds: 3 })
      await running.passBlocks(33)
      for (const known of asked.filter(running.isUnused)) running.slash(known)
      await running.passBlocks(32)
    }
    expect(running.bond()).toBeLessThan(BOND)
    expect((BOND - running.bond()) * 20n).toBeLessThanOrEqual(BOND)
  },
)

it('free requests at `cancelAbove` cost a twentieth of the bond at most, and silence a solver until they end', async () => {
  const running = await startRunning('reference', { cancelAbove: 500_000000n })
  const { ask, bond, passBlocks, slash, isUnused } = running
  const dust: KnownQuote[] = []
  for (let round = 0; round < 5; round++) {
    dust.push(...(await flood(running, 20, 4_000n, { depositSeconds: 5 })))
    await passBlocks(40)
  }
  expect(dust.length).toBeGreaterThan(50)
  expect(await ask(LARGE)).toBeDefined()
  for (const known of dust.filter(isUnused)) slash(known)
  await passBlocks(2)
  expect(bond()).toBeLessThan(BOND)
  expect((BOND - bond()) * 20n).toBeLessThanOrEqual(BOND)
})

it('after a restart, of quotes that risk as much, those that are over are cancelled first', async () => {
  const running = await startRunning('reference', { maxPayments: 1 })
  const { quoteFor, chain, restart } = running
  const long = await quoteFor(1_000n, { depositSeconds: 100, fillSeconds: 600 })
  const short = await quoteFor(1_000n, { depositSeconds: 20, fillSeconds: 70 })
  await restart(() => void chain.mine(long.quote.depositDeadline + 1))
  await running.passBlocks(10)
  const cancelledIn = ({ quote }: KnownQuote) =>
    chain.blocks.findIndex(({ receipts }) =>
      receipts.some(({ transaction }) =>
        transaction.data.endsWith(quote.nonce.toString(16).padStart(64, '0')),
      ),
    )
  expect(cancelledIn(short)).toBeGreaterThan(0)
  expect(cancelledIn(long)).toBeGreaterThan(cancelledIn(short))
})
