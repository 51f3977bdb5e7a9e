import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Solver } from '../../packages/protocol/src/solvers/solver.js'
import { pairOf } from '../../src/auction/lessons-of-round.js'
import { createSolverChoice } from '../../src/auction/solver-choice.js'
import { createSlots } from '../../src/solvers/transport/request-slots.js'
import type { Lesson } from '../../src/standing/lessons.js'
import { type OpenRequest, recordEnd, recordRequest, Standings } from '../../src/standing/standing.js'
import { solver } from '../solvers/sample-solver.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'

const PAIR = pairOf(exactInput, undefined)
const DEADLINE = 2000

let now: number
let standings: Standings
let registered: readonly Solver[]
let unread: readonly Solver[]

beforeEach(() => {
  now = 0
  standings = new Standings(() => now, pino({ level: 'silent' }))
  registered = [1, 2, 3].map((number) => solver(number))
  unread = []
})

const slots = createSlots(1)

function openChoice(maxQuoteFanOut = 10) {
  const context = contextOf({
    directory: { reachable: () => registered },
    rules: { canCheck: (key: unknown) => !unread.includes(key as Solver) },
    config: { maxQuoteFanOut, quoteSoftTimeoutMs: 500 },
    clock: { monotonic: () => now },
  })
  return createSolverChoice(context, standings, slots)
}

/** The pair of the quotes, which a client has taught. */
const openPair = () => standings.pairsOf(1).recordRate(PAIR, { network: 'a' }, 1, true, now).pair
/** What is known when a round of another client begins. */
const scorecards = () => standings.pairsOf(1).scorecardsOf(PAIR, { network: 'b' }, now)

const offer = (gap = 0): Lesson => ({
  outcome: 'offer',
  isInTime: true,
  isQuick: true,
  gap,
  gain: 0,
  wasWaitedFor: false,
})

/** Opens the circuit breaker of a solver, for 5 s. */
function open(of: Solver): void {
  for (const client of 'abcdefghi') standings.recordAnswer(of, `${client} at ${now}`, true)
}

/** Leaves three requests of a solver unanswered, which others answer. */
function stall(of: Solver): void {
  const request: OpenRequest = { isExpected: true, waitingSince: now, round: { offeredAt: now } }
  for (let time = 0; time < 3; time++) recordRequest(standings.of(of), request, 'none', now)
}

function chosen(maxQuoteFanOut?: number) {
  const choice = openChoice(maxQuoteFanOut)
  const { asked, busy, notAsked } = choice.of(1, scorecards(), DEADLINE)
  const names = (list: typeof asked) => list.map(({ solver: { name } }) => name).sort()
  return {
    asked: names(asked.filter(({ wait }) => wait !== 'never')),
    probed: names(asked.filter(({ wait }) => wait === 'never')),
    busy,
    notAsked,
    reasons: registered.map((each) => choice.notAskedReason(each)),
  }
}

describe('who is asked, and what statistics say of it', () => {
  test('are all, while there are places', () => {
    expect(chosen()).toMatchObject({
      asked: ['1', '2', '3'],
      notAsked: 0,
      reasons: [undefined, undefined, undefined],
    })
  })

  test('are as many as there are places: the others could be asked', () => {
    const { asked, notAsked, reasons } = chosen(2)
    expect([asked.length, notAsked, reasons]).toEqual([2, 1, [undefined, undefined, undefined]])
  })

  test('are not those whose bond is unknown, whose breaker is open or who do not answer', () => {
    const [first, second, third] = registered as [Solver, Solver, Solver]
    registered = [first, second, third, solver(4)]
    unread = [first]
    open(second)
    stall(third)
    now = 100
    expect(chosen()).toEqual({
      asked: ['4'],
      probed: [],
      busy: 0,
      notAsked: 3,
      reasons: ['bond_unknown', 'circuit_open', 'not_answering', undefined],
    })
  })

  test('probe a breaker whose open period is over', () => {
    const [first] = registered as [Solver]
    open(first)
    now = 5000
    expect(chosen()).toMatchObject({
      asked: ['2', '3'],
      probed: ['1'],
      reasons: ['circuit_open', undefined, undefined],
    })
  })

  test('are waited for beyond the soft deadline when they are owed it, but not for a probe', () => {
    const [first] = registered as [Solver]
    const pair = openPair()
    pair.open(first.address).learn(offer(), 0, now)
    pair.open(first.address).hear({ ...offer(), isInTime: false, gain: 50 }, 50, now)
    const waits = () =>
      openChoice()
        .of(1, scorecards(), DEADLINE)
        .asked.find(({ solver }) => solver === first)
    expect(waits()).toMatchObject({ wait: 'soft_deadline', waitWhenWorse: 'beyond' })
    // It is reliable no more.
    now = 90_000
    open(first)
    now += 5000
    expect(waits()).toMatchObject({ wait: 'never', waitWhenWorse: 'never' })
  })

  test('are those again that answer a probe, also after answers that came while the breaker was open', () => {
    const [first] = registered as [Solver]
    open(first)
    for (let client = 0; client < 6; client++) standings.recordAnswer(first, `client ${client}`, false)
    now = 5000
    standings.recordAnswer(first, 'probe', false)
    expect(chosen()).toMatchObject({ asked: ['1', '2', '3'], probed: [] })
  })

  test('are also those that are reliable in the pair: statistics are for all pairs', () => {
    const [first, second] = registered as [Solver, Solver]
    open(first)
    stall(second)
    const pair = openPair()
    for (const { address } of [first, second]) {
      pair.open(address).hear(offer(), 0, now)
    }
    now = 5000
    expect(chosen()).toMatchObject({
      asked: ['1', '2', '3'],
      probed: [],
      reasons: ['circuit_open', 'not_answering', undefined],
    })
  })

  test('are those that do not answer or are half-open, when all are open or do not answer', () => {
    for (const each of registered.slice(0, 2)) open(each)
    now = 4000
    stall(registered[2] as Solver)
    now = 4100
    expect(chosen()).toMatchObject({ asked: ['3'], reasons: ['circuit_open', 'circuit_open', undefined] })
    now = 5000
    expect(chosen()).toMatchObject({ asked: ['1', '2', '3'], probed: [] })
  })

  test('are those with the fewest open periods, when all are open', () => {
    const [first] = registered as [Solver]
    open(first)
    now = 5000
    standings.recordAnswer(first, 'd', false)
    for (const each of registered) open(each)
    expect(chosen()).toMatchObject({ asked: ['2', '3'], reasons: ['circuit_open', undefined, undefined] })
  })

  test('are nobody whose bond is unknown, also when nobody else could be asked', () => {
    unread = registered
    expect(chosen()).toMatchObject({ asked: [], notAsked: 3 })
    unread = registered.slice(0, 1)
    for (const each of registered.slice(1)) open(each)
    expect(chosen()).toMatchObject({ asked: ['2', '3'], reasons: ['bond_unknown', undefined, undefined] })
  })

  test('are those that have answered since the requests began that they leave unanswered', () => {
    const [first] = registered as [Solver]
    stall(first)
    const later: OpenRequest = { isExpected: true, waitingSince: 5, round: { offeredAt: 5 } }
    recordEnd(standings.of(first), later, { answeredInMs: 5, isOffer: false }, 10)
    now = 100
    expect(chosen()).toMatchObject({ asked: ['1', '2', '3'] })
  })

  test('are not those whose connections stay in use', () => {
    slots.of(registered[0] as Solver).tryTake()
    expect(chosen()).toMatchObject({ asked: ['2', '3'], busy: 1 })
  })
})

test('keeps the standing of a solver that rounds ask, however many others are known', () => {
  const [, second] = registered as [Solver, Solver]
  const choice = openChoice()
  const asked = () => choice.of(1, scorecards(), DEADLINE).asked.find(({ solver }) => solver === second)
  const know = (from: number, to: number) => {
    for (let number = from; number < to; number++) standings.of(solver(number))
  }
  const first = asked()?.standing
  know(10, 2000)
  asked()
  know(2000, 2100)
  expect(first).toBeDefined()
  expect(standings.find(second)).toBe(first)
  open(second)
  expect(choice.notAskedReason(second)).toBe('circuit_open')
})

test.each([
  ["the client's scorecard before the pair's", false, '3'],
  ["the pair's, when the round may teach it", true, '2'],
])('asks by %s', (_what, mayTeach, name) => {
  registered = [1, 2, 3, 4].map((number) => solver(number, { endpointUrl: `https://${number}.example.net` }))
  const { pair, client } = standings.pairsOf(1).recordRate(PAIR, { network: 'a' }, 1, true, now)
  for (const [scorecard, first, gap] of [
    [pair, 2, 1],
    [pair, 3, 2],
    [client, 3, 0],
  ] as const)
    scorecard.open(solver(first).address).learn(offer(gap), 0, now)
  const { asked } = openChoice(2).of(1, { pair, client, mayTeach }, DEADLINE)
  expect([asked[0]?.solver.name, asked[0]?.chosenBy]).toEqual([name, 'RANK'])
})

test('waits as the scorecard of the client says, too', () => {
  const { client } = standings.pairsOf(1).recordRate(PAIR, { network: 'b' }, 1, true, now)
  for (let time = 0; time < 2; time++)
    client.open(solver(2).address).learn({ ...offer(), isQuick: false, gain: 1 }, 0, now)
  const { asked } = openChoice().of(1, scorecards(), DEADLINE)
  const waits = asked.map(({ solver: { name }, wait }) => [name, wait])
  expect(waits).toEqual(
    expect.arrayContaining([
      ['2', 'beyond'],
      ['3', 'soft_deadline'],
    ]),
  )
})

test('says why each solver is asked, by its lessons in the pair, and how long it is waited for', () => {
  const pair = openPair()
  registered = [1, 2, 3, 4].map((number) => solver(number, { endpointUrl: `https://${number}.example.net` }))
  registered.slice(0, 3).forEach(({ address }, index) => {
    pair.open(address).learn({ ...offer(10 * index), isQuick: false }, 0, now)
  })
  const { asked } = openChoice(2).of(1, scorecards(), DEADLINE)
  expect(
    asked.map(({ solver: { name }, chosenBy, gapBps, isWaitedFor, wait }) => [
      name,
      chosenBy,
      gapBps,
      isWaitedFor,
      wait,
    ]),
  ).toEqual([
    ['1', 'RANK', 0, false, 'none'],
    ['4', 'TURN', undefined, true, 'soft_deadline'],
  ])
})

test('a standing belongs to the address: another endpoint, session or name changes nothing', () => {
  const moved = solver(1, { endpointUrl: 'https://elsewhere.example.org', session: { id: 'a' }, name: 'new' })
  expect(standings.of(moved)).toBe(standings.of(solver(1)))
  expect(standings.of(solver(1, { chainId: 2 }))).not.toBe(standings.of(solver(1)))
})
