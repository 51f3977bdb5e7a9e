import { beforeEach, describe, expect, test } from 'vitest'
import { Pairs, type Teacher, usualRate } from '../../src/standing/pair.js'
import { solver } from '../solvers/sample-solver.js'

const MINUTE = 60_000
const client = { network: '192.0.2.1' }
const other = { network: '192.0.2.2' }
const withKey = { network: 'key', apiKey: {} }
let pairs: Pairs

beforeEach(() => {
  pairs = new Pairs()
})

/** Records an answer of the rate. The round might teach the pair when it began, unless it has ranked by the client's scorecard. */
const answer = (of: Teacher, { rate = 1, mayTeach = true, now = 0, pair = 'a' } = {}) =>
  pairs.recordRate(pair, of, rate, mayTeach, now)
const scorecardsOf = (of: Teacher, now = 0) => pairs.scorecardsOf('a', of, now)

describe('the usual rate', () => {
  /** Answers of the rate to as many clients, each of which teaches the pair. */
  const teach = (rate: number, count: number) => {
    for (let each = 0; each < count; each++) answer({ network: `${rate} ${each}` }, { rate })
  }
  const usual = (of: Teacher) => usualRate(scorecardsOf(of))

  test('is 0 when nothing is known', () => {
    expect(usual(client)).toBe(0)
  })

  test('is the median of the last 49 answers that taught the pair', () => {
    teach(1, 25)
    teach(0.5, 24)
    for (const rate of [0.5, 0.5]) answer(other, { rate, mayTeach: false })
    expect([client, other].map(usual)).toEqual([1, 1])
    teach(0.25, 1)
    expect(usual(client)).toBe(0.5)
  })

  test('is the median of the last 49 answers of the client, where that is better', () => {
    teach(0.5, 49)
    for (let each = 0; each < 25; each++) answer(client, { mayTeach: false })
    for (let each = 0; each < 24; each++) answer(client, { mayTeach: false, rate: 0.75 })
    expect([usual(client), usual(other)]).toEqual([1, 0.5])
    answer(client, { mayTeach: false, rate: 0.75 })
    expect(usual(client)).toBe(0.75)
  })
})

describe("a client's scorecard", () => {
  const { address } = solver(1)

  test('is of one client in one pair', () => {
    const { client: scorecard, pair } = answer(client)
    expect(scorecardsOf(client)).toEqual({ pair, client: scorecard, mayTeach: false })
    expect(scorecardsOf(client).client).toBe(scorecard)
    expect(scorecardsOf(other)).toEqual({ pair, client: undefined, mayTeach: true })
    expect(pairs.scorecardsOf('b', client, 0)).toEqual({ pair: undefined, client: undefined, mayTeach: true })
  })

  test('is kept for half an hour after the last answer', () => {
    answer(client).client.open(address)
    answer(client, { now: 30 * MINUTE })
    expect(scorecardsOf(client, 60 * MINUTE).client?.of(address)).toBeDefined()
    expect(scorecardsOf(client, 60 * MINUTE + 1).client).toBeUndefined()
    expect(answer(client, { now: 60 * MINUTE + 1 }).client.of(address)).toBeUndefined()
  })

  test('is one of 4,096: then the one goes that was used longest ago', () => {
    const open = (pair: string, number: number) => answer({ network: `${number}` }, { pair }).client
    const [first, second] = [open('a', 0), open('b', 0)]
    expect(second).not.toBe(first)
    for (let number = 1; number < 4096; number++) open('a', number % 2 === 0 ? number : -number)
    expect(open('a', 0)).not.toBe(first)
    expect(open('b', 0)).not.toBe(second)
  })
})

describe('a client teaches a pair', () => {
  const teaches = (of: Teacher, now: number, mayTeach = true) => answer(of, { now, mayTeach }).isTaught

  test.each([
    ['once in 10 minutes', client, 10 * MINUTE],
    ['with a key once in a minute', withKey, MINUTE],
  ])('%s', (_what, of, restMs) => {
    expect([0, 1, restMs - 1].map((now) => teaches(of, now))).toEqual([true, false, false])
    expect([restMs - 1, restMs].map((now) => scorecardsOf(of, now).mayTeach)).toEqual([false, true])
    expect([other, of, of].map((each) => teaches(each, restMs))).toEqual([true, true, false])
  })

  test('as one of 1,024: of more, the one is forgotten that has longest ago', () => {
    teaches(client, 0)
    teaches(other, 5 * MINUTE)
    teaches(client, 10 * MINUTE)
    for (let number = 0; number < 1023; number++) teaches({ network: `${number}` }, 10 * MINUTE)
    expect([client, other].map((of) => teaches(of, 10 * MINUTE))).toEqual([false, true])
  })

  test('not with a round that has ranked by the scorecard of the client, whenever it is answered', () => {
    expect([false, true].map((mayTeach) => teaches(client, 0, mayTeach))).toEqual([false, true])
  })
})

describe('the pairs of a chain', () => {
  test('begin with their first lesson', () => {
    answer(client, { mayTeach: false })
    expect(pairs.of('a')).toBeUndefined()
    const { pair } = answer(client)
    expect(pairs.of('a')).toBe(pair)
    expect(answer(client).pair).toBe(pair)
  })

  test('are 2,048: then the one goes that was taught longest ago', () => {
    for (let number = 0; number < 2048; number++) answer(client, { pair: `${number}` })
    for (const pair of ['0', 'new']) answer(client, { pair, now: 10 * MINUTE })
    expect([pairs.of('0') !== undefined, pairs.of('1')]).toEqual([true, undefined])
  })
})
