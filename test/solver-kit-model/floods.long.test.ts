import { expect, it } from 'vitest'
import { OrderState } from '../support/chain/signed-quote.js'
import { rounds } from '../support/rounds.js'
import type { KnownQuote } from './known-quotes.js'
import { type RunningSolver, startRunning, type Wanted } from './running-solver.js'
import { BOND } from './world.js'

const DUST = 1n

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

it('few requests are answered while timers are late, so that payments go on', async () => {
  const running = await startRunning()
  const wanted = { isPrice: true, depositSeconds: 60 }
  expect(await flood(running, 100, DUST, wanted)).toHaveLength(100)
  running.standStill(150)
  expect((await flood(running, 100, DUST, wanted)).length).toBeLessThan(50)
})

it('what risks most is cancelled first, and of what risks as much, what is over first', async () => {
  const running = await startRunning('reference', { maxPayments: 1 })
  const { quoteFor, chain, passBlocks } = running
  const long = await quoteFor(1_000n, { depositSeconds: 100, fillSeconds: 600 })
  const short = await quoteFor(1_000n, { depositSeconds: 20, fillSeconds: 70 })
  const large = await quoteFor(2_000n, { depositSeconds: 100, fillSeconds: 600 })
  chain.mine(long.quote.depositDeadline + 1)
  await passBlocks(15)
  const cancelledIn = ({ quote }: KnownQuote) =>
    chain.blocks.findIndex(({ receipts }) =>
      receipts.some(({ transaction }) =>
        transaction.data.endsWith(quote.nonce.toString(16).padStart(64, '0')),
      ),
    )
  const blocks = [large, short, long].map(cancelledIn)
  expect(blocks[0]).toBeGreaterThan(0)
  expect(blocks).toEqual(blocks.toSorted((one, other) => one - other))
  expect(new Set(blocks).size).toBe(3)
})
