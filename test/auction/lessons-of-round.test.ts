import { beforeEach, expect, test } from 'vitest'
import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { createLearnRequest, pairOf } from '../../src/auction/lessons-of-round.js'
import type { RoundTimes } from '../../src/auction/round.js'
import type { Asked } from '../../src/auction/solver-choice.js'
import { identifyClient } from '../../src/clients/client-id.js'
import type { Lessons } from '../../src/standing/lessons.js'
import { usualRate } from '../../src/standing/pair.js'
import { Standings, type Wait, waitFor } from '../../src/standing/standing.js'
import { createLog } from '../../src/telemetry/log.js'
import { createManualClock } from '../support/manual-clock.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { askedSolver, OWN_RULE, offerOf, playRound, SOFT_MS } from './played-round.js'

const PAIR = pairOf(exactInput, undefined)
const log = createLog('silent')
const DECLINED: SolverResult = { kind: 'declined', status: 422 }
let standings: Standings
let clock: ReturnType<typeof createManualClock>

beforeEach(() => {
  clock = createManualClock()
  standings = new Standings(clock.monotonic, log)
})

/** A round of two solvers of a client: the first one offers at once. The second one is slow, and was worth waiting for. */
function play({
  client = '192.0.2.1',
  kind = 'FIRM' as 'FIRM' | 'INDICATIVE',
  second = 'beyond' as Wait,
  times = {} as Partial<RoundTimes>,
  mayTeach = true,
} = {}) {
  const scorecards = standings.pairsOf(1).scorecardsOf(PAIR, { network: client }, clock.monotonic())
  const solvers: Asked[] = [askedSolver(1), askedSolver(2, second)].map((asked) => ({
    ...asked,
    isExpected: second !== 'never',
    waitWhenWorse: scorecards.pair?.of(asked.solver.address)?.isOwed ? 'beyond' : asked.wait,
    standing: standings.of(asked.solver),
  }))
  const request = { ...exactInput, kind }
  const learn = createLearnRequest(
    request,
    PAIR,
    identifyClient(client),
    mayTeach,
    standings,
    clock.monotonic,
  )
  return playRound({
    asked: solvers,
    times: { requestedAt: clock.monotonic(), usualRate: usualRate(scorecards), ...times },
    clock,
    onEnd: learn,
  })
}

const lessonsOf = (number: number): Lessons | undefined =>
  standings.pairsOf(1).of(PAIR)?.of(askedSolver(number).solver.address)

test("what comes after a caller's shorter deadline and is no offer says nothing of its solver", async () => {
  const declined = { kind: 'declined', status: 422 } as const
  for (const [limitMs, medianGap] of [
    [320, undefined],
    [2000, 10_000],
  ] as const) {
    standings = new Standings(clock.monotonic, log)
    for (let client = 0; client < 50; client++) {
      const { answer } = play({ client: `192.0.2.${client}`, times: { limitMs } })
      await answer(1, offerOf(1))
      await clock.advance(330)
      await answer(2, declined)
      await clock.advance(2000)
    }
    expect([lessonsOf(1)?.gap, lessonsOf(2)?.gap]).toEqual([0, medianGap])
  }
})

test('strangers who get junk, and a late offer of their own, make only the quotes slow that are worse than usual', async () => {
  const offerFirst = async (client: string, amount: bigint, isOwnRule = true) => {
    const second = waitFor(
      [lessonsOf(2)].filter((known) => known !== undefined),
      false,
    )
    const played = play({ client, second, times: { softDeadline: { ...OWN_RULE, isOwn: isOwnRule } } })
    await played.answer(1, offerOf(1, amount))
    return played
  }
  const readLate = async ({ answer }: Awaited<ReturnType<typeof offerFirst>>) => {
    await clock.advance(SOFT_MS + 100)
    await answer(2, offerOf(2))
  }
  for (let client = 100; client < 149; client++) await readLate(await offerFirst(`192.0.2.${client}`, 1000n))
  for (const isOwnRule of [true, false]) {
    await readLate(await offerFirst('203.0.113.1', 500n, isOwnRule))
    expect(lessonsOf(2)?.isOwed).toBe(true)
  }
  expect((await offerFirst('192.0.2.4', 1000n)).told()).toEqual(['quoted', 'soft_deadline'])
  const worse = await offerFirst('192.0.2.5', 999n)
  expect(worse.told()).toBeUndefined()
  await readLate(worse)
  expect(worse.told()).toEqual(['quoted', 'quoted'])
})

test("a round teaches the client's scorecard, and that of the pair unless it has ranked by the client's", async () => {
  for (const mayTeach of [true, false]) {
    const { answer } = play({ second: 'soft_deadline', mayTeach })
    await answer(1, offerOf(1, 2000n))
    await answer(2, offerOf(2, 1000n))
    await clock.advance(10_000)
  }
  const { client } = standings.pairsOf(1).scorecardsOf(PAIR, { network: '192.0.2.1' }, clock.monotonic())
  const { address } = askedSolver(2).solver
  expect([lessonsOf(2)?.gapSum, client?.of(address)?.gapSum]).toEqual([5000, 10_000])
})

test('invalid replies to nine clients open no breaker: they cost no time', async () => {
  const standing = standings.of(askedSolver(2).solver)
  for (const client of 'abcdefghi') {
    const { answer } = play({ client })
    await answer(1, offerOf(1))
    await answer(2, { kind: 'invalid', reason: 'signature_mismatch' })
  }
  expect(standing.circuitState(clock.monotonic())).toBe('closed')
})

test.each([
  ['in a round without an offer', async ({ answer }: ReturnType<typeof play>) => answer(1, DECLINED)],
  ['after a round with one', async ({ answer }: ReturnType<typeof play>) => answer(1, offerOf(1))],
])(
  'any answer to a probe closes the breaker, also in a pair that the solver has not quoted in a day, %s',
  async (_when, before) => {
    const standing = standings.of(askedSolver(2).solver)
    standing.hasQuoted = true
    for (const client of 'abcdefghi') standings.recordAnswer(askedSolver(2).solver, client, true)
    await clock.advance(5000)
    const played = play({ second: 'never' })
    await before(played)
    expect([played.told()?.at(-1), standing.isCircuitClosed]).toEqual(['circuit_open', false])
    await played.answer(2, DECLINED)
    expect(standing.isCircuitClosed).toBe(true)
    expect(lessonsOf(2)).toBeUndefined()
  },
)

test('an offer in a round that does not teach makes the solver reliable in the pair', async () => {
  for (const number of [1, 2]) {
    const { answer } = play()
    await answer(1, offerOf(1))
    await answer(2, number === 1 ? DECLINED : offerOf(2))
  }
  expect(lessonsOf(2)).toMatchObject({ gap: 10_000, isQuick: false })
  expect(lessonsOf(2)?.isReliable(clock.monotonic())).toBe(true)
})

test('an offer to a probe makes the solver reliable, so that the requests of strangers do not keep it out', async () => {
  const { answer } = play({ second: 'never' })
  await answer(1, offerOf(1))
  await clock.advance(300)
  await answer(2, offerOf(2, 2000n))
  expect(lessonsOf(2)?.isReliable(clock.monotonic())).toBe(true)
})

/** A round that waits for the second solver, whose offer comes after the soft deadline. */
async function wait(amount: bigint, options: Parameters<typeof play>[0]): Promise<void> {
  const { answer } = play(options)
  await answer(1, offerOf(1, 2000n))
  await clock.advance(900)
  await answer(2, offerOf(2, amount))
}

test('a wait in vain counts in a firm round that teaches', async () => {
  const isWorthWaiting = () => lessonsOf(2)?.isWorthWaiting
  for (const client of [1, 2]) await wait(3000n, { client: `192.0.2.${client}` })
  const waitInVain = async (options: (time: number) => Parameters<typeof play>[0]) => {
    for (let time = 0; time < 12; time++) await wait(1000n, options(time))
  }
  // This client has taught the pair, and a price teaches nothing.
  await waitInVain(() => ({ client: '192.0.2.1' }))
  await waitInVain((time) => ({ client: `198.51.100.${time}`, kind: 'INDICATIVE' }))
  expect(isWorthWaiting()).toBe(true)
  await waitInVain((time) => ({ client: `198.51.100.${time}` }))
  expect(isWorthWaiting()).toBe(false)
})

test('a round teaches, also when a later one was answered before it', async () => {
  const [first, second] = [play(), play({ client: '192.0.2.2' })]
  await clock.advance(10)
  await second.answer(1, offerOf(1))
  await second.answer(2, { kind: 'declined', status: 422 })
  await clock.advance(100)
  for (const number of [1, 2]) await first.answer(number, offerOf(number))
  expect(lessonsOf(2)?.gap).toBe(0)
})

test.each([
  [SOFT_MS, true],
  [SOFT_MS + 1, false],
])('an offer %d ms after the request, and after the answer, is quick: %s', async (afterMs, isQuick) => {
  const { answer, told } = play({ second: 'none' })
  await answer(1, offerOf(1))
  expect(told()).toEqual(['quoted', 'soft_deadline'])
  await clock.advance(afterMs)
  await answer(2, offerOf(2))
  expect([lessonsOf(2)?.gap, lessonsOf(2)?.isQuick]).toEqual([0, isQuick])
})

test('a pair was quoted lately for a day after an offer, whoever asked', async () => {
  expect(standings.wasQuoted(1, PAIR)).toBe(false)
  const { answer } = play()
  await answer(1, offerOf(1))
  await clock.advance(24 * 3_600_000)
  expect([standings.wasQuoted(1, PAIR), standings.wasQuoted(2, PAIR)]).toEqual([true, false])
  await clock.advance(60_000)
  expect(standings.wasQuoted(1, PAIR)).toBe(false)
})

const { minDepositDeadline, ...swap } = exactInput

type Changes = QuoteRequest & { readonly depositWindow?: number }

test.each([
  ['a larger amount of as many digits', { amount: 9999n }, true],
  ['an amount of one digit more', { amount: 10_000n }, false],
  ['the other order type', { orderType: 'EXACT_OUTPUT' as const }, false],
  ['another token that is sold', { inputToken: '0xc' as Address }, false],
  ['another token that is bought', { outputToken: '0xc' as Address }, false],
  ['the other deposit mode', { depositMode: 'ADDRESS' as const }, false],
  ['another chain of the output', { destinationChainId: 10 }, false],
  ['another deposit window', { depositWindow: 1 }, false],
  ['a later request', { depositDeadline: 1_800_000_400 }, true],
  ['a request for which offers may be earlier', { minDepositDeadline }, false],
  [
    'another one, which is later',
    { depositDeadline: 1_800_000_400, minDepositDeadline: 1_800_000_400 },
    true,
  ],
])('%s is the same pair: %s', (_what, changes, isSame) => {
  const { depositWindow, ...request }: Changes = { ...swap, ...changes }
  expect(pairOf(request, depositWindow) === pairOf(swap, undefined)).toBe(isSame)
})
