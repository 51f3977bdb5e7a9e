import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestChain } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openMarket, type Priced, times } from './priced-solvers.js'

const SECOND_USER = '0x00000000000000000000000000000000000000bb'

let chain: TestChain

beforeAll(async () => {
  chain = await startModelChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

/** Solvers whose prices are 1 bp apart; the first one has the best. */
const apart = (count: number): Priced[] =>
  Array.from({ length: count }, (_, index) => ({ bps: () => -index }))

describe('thirty solvers, of which a quote asks ten', () => {
  test('have their best one in nearly every answer, also when the best one changes or is new', async () => {
    const { addSolvers, quote } = await openMarket(chain)
    const solvers = await addSolvers(apart(30))
    const bestOf = async (count: number, best: number) =>
      (await times(count, () => quote())).filter(({ bps }) => bps === best).length

    await times(20, () => quote())
    expect(await bestOf(100, 0)).toBeGreaterThanOrEqual(98)

    const [first] = solvers
    if (first !== undefined) Object.assign(first.priced, { bps: () => -50 })
    await times(6, () => quote())
    expect(await bestOf(40, -1)).toBeGreaterThanOrEqual(38)

    await addSolvers([{ bps: () => 5 }])
    expect(await bestOf(10, 5)).toBeGreaterThanOrEqual(1)
    expect(await bestOf(100, 5)).toBeGreaterThanOrEqual(95)
  })

  test('are each asked five times or more in 200 quotes', async () => {
    const { addSolvers, quote } = await openMarket(chain)
    const solvers = await addSolvers(apart(30))
    await times(200, () => quote())
    const counts = solvers.map(({ asks }) => asks.length).sort((one, other) => one - other)
    expect(counts[0]).toBeGreaterThanOrEqual(5)
    expect(counts.reduce((sum, count) => sum + count)).toBe(2000)
  })
})

test('each of two solvers has its rank in the pair in which it is good', async () => {
  const { addSolvers, quote } = await openMarket(chain, { MAX_QUOTE_FAN_OUT: '5' })
  const { weth, usdc } = chain.contracts
  const isSale = (ask: { inputToken: string }) => ask.inputToken.toLowerCase() === weth.toLowerCase()
  const others = Array.from({ length: 10 }, (_, index) => ({ bps: () => -10 - index }))
  const [a, b] = await addSolvers([
    { bps: (ask) => (isSale(ask) ? 0 : -500) },
    { bps: (ask) => (isSale(ask) ? -500 : 0) },
    ...others,
  ])
  for (const pair of [{}, { inputToken: usdc, outputToken: weth }]) await times(20, () => quote(pair))
  const chosenOf = async (solver: typeof a, inputToken: string) =>
    (await solver?.results())
      ?.filter(({ request }) => request.inputToken.toLowerCase() === inputToken.toLowerCase())
      .map(({ result }) => result)
  const [ofA, ofB] = [await chosenOf(a, weth), await chosenOf(b, usdc)]
  for (const results of [ofA, ofB]) {
    expect(results?.slice(0, 5).map(({ chosenBy }) => chosenBy)).toEqual(Array(5).fill('RANK'))
    expect(results?.[0]).toMatchObject({ gapBps: 0, isWaitedFor: true })
  }
})

test('one client that asks alone, and to which one solver offers well, does not decide for others', async () => {
  const { addSolvers, quote } = await openMarket(chain)
  const toSecond = (ask: { userAddress: string }) => ask.userAddress.toLowerCase() === SECOND_USER
  const favourite: Priced = { bps: (ask) => (toSecond(ask) ? -40 : 0) }
  const others = Array.from({ length: 10 }, (_, index) => ({
    bps: (ask: { userAddress: string }) => (toSecond(ask) ? -index : -300),
  }))
  await addSolvers([favourite, ...others])
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  await times(300, () => quote({}, from('203.0.113.1')))
  // Of eleven solvers one is left out, by lot: ten answers say too little of how often that is the best one.
  const answers = await times(100, () => quote({ userAddress: SECOND_USER }, from('203.0.113.2')))
  expect(answers.filter(({ bps }) => bps === 0).length).toBeGreaterThanOrEqual(80)
})

test('ten solvers are all asked', async () => {
  const { addSolvers, quote } = await openMarket(chain)
  const solvers = await addSolvers(apart(10))
  await times(5, () => quote())
  for (const { asks, results } of solvers) {
    expect(asks).toHaveLength(5)
    expect((await results()).map(({ result }) => result.chosenBy)).toEqual(Array(5).fill('ALL'))
  }
})

test('44 solvers of one owner that are 5 % worse do not displace three honest ones', async () => {
  const { addSolvers, quote } = await openMarket(chain)
  await addSolvers(apart(3))
  await addSolvers(Array.from({ length: 44 }, () => ({ bps: () => -500 })))
  await times(60, () => quote())
  const answers = await times(60, () => quote())
  expect(answers.filter(({ bps }) => bps === 0).length).toBeGreaterThanOrEqual(57)
})
