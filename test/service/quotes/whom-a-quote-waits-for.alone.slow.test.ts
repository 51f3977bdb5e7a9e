import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestChain } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openMarket, type Priced, times } from './priced-solvers.js'

const LIARS_USER = '0x00000000000000000000000000000000000000aa'

let chain: TestChain

beforeAll(async () => {
  chain = await startModelChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

const quick = (...prices: number[]): Priced[] => prices.map((bps) => ({ bps: () => bps }))

describe('a solver that answers junk at once', () => {
  test('keeps no caller from the price of two that need 620 and 650 ms', async () => {
    const { addSolvers, quote } = await openMarket(chain)
    const solvers = await addSolvers([
      { bps: () => -9999, afterMs: 1 },
      { bps: () => 0, afterMs: 620 },
      { bps: () => 1, afterMs: 650 },
    ])
    await times(12, () => quote())
    await Promise.all(solvers.map((solver) => solver.catchUp()))
    const answers = await times(20, () => quote())
    expect(answers.filter(({ bps }) => bps >= 0).length).toBeGreaterThanOrEqual(19)
    const [last] = await (solvers[2]?.results() ?? [])
    expect(last.result).toMatchObject({ chosenBy: 'ALL', gapBps: 0, isWaitedFor: true })
  })
})

describe('a slow solver', () => {
  test('that is worse than the others makes no caller wait', async () => {
    const { addSolvers, quote } = await openMarket(chain)
    const [, , slow] = await addSolvers([...quick(0, -2), { bps: () => -1, afterMs: 1500 }])
    await times(25, () => quote())
    await slow?.catchUp()
    const answers = await times(20, () => quote())
    expect(answers.filter(({ elapsedMs }) => elapsedMs < 250).length).toBeGreaterThanOrEqual(15)
    await slow?.catchUp()
    const [last] = await (slow?.results() ?? [])
    expect(last.result).toMatchObject({ outcome: 'SOFT_DEADLINE', isWaitedFor: false })
  })

  test('that is 5 bp better has its offer in the answers', async () => {
    const { addSolvers, quote } = await openMarket(chain)
    const [, , slow] = await addSolvers([...quick(0, -2), { bps: () => 5, afterMs: 900 }])
    await times(25, () => quote())
    await slow?.catchUp()
    const answers = await times(20, () => quote())
    expect(answers.filter(({ bps }) => bps === 5).length).toBeGreaterThanOrEqual(18)
    for (const { elapsedMs } of answers) expect(elapsedMs).toBeLessThan(1300)
  })

  test('that is great to its own callers only, and late, delays few answers of others', async () => {
    const { addSolvers, quote } = await openMarket(chain)
    const isOwn = (ask: { userAddress: string }) => ask.userAddress.toLowerCase() === LIARS_USER
    await addSolvers([...quick(0, -2), { bps: (ask) => (isOwn(ask) ? 10 : -10), afterMs: 1500 }])
    await times(60, async (round) => {
      const headers = { 'x-forwarded-for': `203.0.113.${1 + (round % 5)}` }
      await quote({ userAddress: LIARS_USER, softDeadlineMs: 0 }, { headers })
      await quote()
    })
    const answers = await times(20, () => quote())
    expect(answers.filter(({ elapsedMs }) => elapsedMs < 700).length).toBeGreaterThanOrEqual(15)
  })
})

describe('a caller says how long it waits', () => {
  const PRICES: Priced[] = [...quick(0, -2), { bps: () => 1, afterMs: 700 }, { bps: () => 5, afterMs: 1400 }]

  test.each([
    ['softDeadlineMs 0 waits for all', { softDeadlineMs: 0 }, 4, 1380, 1990],
    ['softDeadlineMs 100 ends then, with what is there', { softDeadlineMs: 100 }, 2, 95, 400],
    ['minQuotes 3 waits for three', { minQuotes: 3 }, 3, 690, 1380],
  ])('%s', async (_what, waiting, offers, atLeastMs, atMostMs) => {
    const { addSolvers, quote } = await openMarket(chain)
    const solvers = await addSolvers(PRICES)
    // Now it is known who is quick.
    await quote({ softDeadlineMs: 0 })
    await Promise.all(solvers.map((solver) => solver.catchUp()))
    const answer = await quote(waiting)
    expect(answer.offers).toBe(offers)
    expect(answer.elapsedMs).toBeGreaterThan(atLeastMs)
    expect(answer.elapsedMs).toBeLessThan(atMostMs)
  })
})
