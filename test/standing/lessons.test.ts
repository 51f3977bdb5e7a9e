import { describe, expect, test } from 'vitest'
import { Lessons, Pair, Pairs } from '../../src/standing/lessons.js'
import { solver } from '../solvers/sample-solver.js'

const MINUTE = 60_000
function lessonsOf(gaps: readonly number[]): Lessons {
  const lessons = new Lessons()
  for (const gap of gaps) lessons.addGap(gap)
  return lessons
}

/** Answers one after the other, each of which was worth the wait or not. The rounds waited for them, or not. */
function answersOf(worths: readonly boolean[], wasWaitedFor = false, lessons = new Lessons()): Lessons {
  for (const isWorth of worths) lessons.addWorth(isWorth, wasWaitedFor, 0, 0)
  return lessons
}

const YES = Array(99).fill(true)
const NO = Array(99).fill(false)

describe('the lessons of a solver', () => {
  test.each([
    [[], 10_000],
    [[3], 3],
    [[1, 9], 1],
    [[9, 1, 5], 5],
    // The first one is forgotten with the tenth.
    [[0, 7, 7, 7, 7, 8, 8, 8, 8, 8], 8],
  ])('%j have the median gap %d', (gaps, median) => {
    expect(lessonsOf(gaps).medianGap).toBe(median)
  })

  test.each([
    [[true, ...NO, true], false],
    [[true, false, true], true],
    [[true, false, false, false, false, true], false],
    [[...YES, ...NO.slice(0, 15)], true],
    [[...YES, ...NO.slice(0, 16)], false],
  ])('after answers that were worth the wait as in %j, it is worth waiting for: %s', (worths, isWorth) => {
    expect(answersOf(worths).isWorthWaiting).toBe(isWorth)
  })

  test('are worth the wait again when the solver is worth it again, after others were better for long', () => {
    const lessons = answersOf(YES, true)
    for (const isWorth of NO) answersOf([isWorth], lessons.isWorthWaiting, lessons)
    answersOf([true, true], false, lessons)
    expect(lessons.isWorthWaiting).toBe(true)
  })

  test('are worth no wait in 200 rounds, after 20 waits in a row that were in vain', () => {
    const lessons = answersOf(NO.slice(0, 19), true)
    answersOf([...YES.slice(0, 1), ...NO.slice(0, 19)], true, lessons)
    answersOf([true, true], false, lessons)
    expect(lessons.isWorthWaiting).toBe(true)
    answersOf([false], true, lessons)
    for (let round = 0; round < 200; round++) {
      answersOf([true], false, lessons)
      expect(lessons.isWorthWaiting).toBe(false)
      lessons.recordRound()
    }
    expect(lessons.isWorthWaiting).toBe(true)
  })

  test.each([
    [4, 0, false],
    [5, 0, true],
    [200, 195, true],
    [200, 196, false],
    [9999, 996, false],
  ])('after a loss of %i and %i waits in vain it is worth waiting for: %s', (loss, waits, isWorth) => {
    const lessons = new Lessons()
    lessons.recordLoss(loss)
    expect(answersOf(Array(waits).fill(false), true, lessons).isWorthWaiting).toBe(isWorth)
  })

  test.each([
    [199, false],
    [200, true],
  ])('barred for 200 rounds, after a loss of %i it is worth waiting for: %s', (loss, isWorth) => {
    const lessons = answersOf(NO.slice(0, 20), true)
    lessons.recordLoss(loss)
    expect(lessons.isWorthWaiting).toBe(isWorth)
  })

  test.each([
    [[], false],
    [[true], true],
    [[true, false], false],
    [[...YES, ...NO.slice(0, 24)], true],
    [[...YES, ...NO.slice(0, 25)], false],
    [[...NO, true], true],
  ])('after offers that were quick as in %j, it is quick: %s', (offers, isQuick) => {
    const lessons = new Lessons()
    for (const offer of offers) lessons.recordOffer(offer)
    expect(lessons.isQuick).toBe(isQuick)
  })

  test.each<[[number, number, number], number, boolean]>([
    [[1, 24, 0], 59_999, true],
    [[99, 25, 0], 0, false],
    [[1, 0, 0], 60_000, true],
    [[1, 0, 0], 60_001, false],
    [[1, 99, 1], 0, true],
  ])(
    'after %j offers, losses and offers it is reliable %i ms later: %s',
    ([offers, losses, more], now, isReliable) => {
      const lessons = new Lessons()
      for (let offer = 0; offer < offers; offer++) lessons.recordQuote(0, true)
      for (let loss = 0; loss < losses; loss++) lessons.recordMiss(true)
      for (let offer = 0; offer < more; offer++) lessons.recordQuote(0, true)
      expect(lessons.isReliable(now)).toBe(isReliable)
    },
  )

  test.each([
    [99, 20, 3],
    [99, 24, 3],
    [99, 26, 10_000],
    [6, 1, 3],
    [5, 6, 10_000],
  ])('after %i offers, of %i requests without one the median gap is %i', (offers, misses, medianGap) => {
    const lessons = new Lessons()
    for (let offer = 0; offer < offers; offer++) {
      lessons.recordOffer(true)
      lessons.addGap(3)
    }
    lessons.recordQuote(0, true)
    for (let miss = 0; miss < misses; miss++) lessons.recordMiss(false)
    expect([lessons.medianGap, lessons.isReliable(0)]).toEqual([medianGap, true])
  })

  test.each([
    ['a burst of rounds that were not', 0, true],
    ['rounds in a row that were not', 2, false],
  ])('of a solver that was worth waiting for, %s', (_what, everyMs, isWorthWaiting) => {
    const lessons = answersOf([true, true])
    for (let round = 1; round <= 9; round++)
      lessons.addWorth(false, false, round * everyMs, round * everyMs + 1)
    expect(lessons.isWorthWaiting).toBe(isWorthWaiting)
  })

  test('end to say that it quotes the pair after a day without an offer', () => {
    const lessons = new Lessons()
    expect(lessons.hasQuoted(0)).toBe(false)
    lessons.recordQuote(0, true)
    expect([lessons.hasQuoted(24 * 60 * MINUTE), lessons.hasQuoted(24 * 60 * MINUTE + 1)]).toEqual([
      true,
      false,
    ])
  })
})

describe('the usual rate of a pair', () => {
  const record = (pair: Pair, rate: number, network: string, isTaught = true) =>
    pair.recordRate(rate, { network }, isTaught)

  test('is the median of its last 49 answers that taught it', () => {
    const pair = new Pair()
    expect(record(pair, 1, 'new')).toBe(20)
    for (let more = 0; more < 24; more++) record(pair, 1, `${more}`)
    for (let junk = 0; junk < 24; junk++) expect(record(pair, 0.5, `junk ${junk}`)).toBe(5000)
    expect(record(pair, 0.5, 'untaught', false)).toBe(5000)
    expect(['a', 'b'].map((network) => record(pair, 0.5, network))).toEqual([5000, 0])
  })

  test('is what the client itself was answered, where that was better', () => {
    const pair = new Pair()
    record(pair, 1, 'alone')
    for (let junk = 0; junk < 62; junk++) record(pair, 0.5, `${junk}`)
    expect([record(pair, 0.5, 'other'), record(pair, 0.5, 'alone', false)]).toEqual([0, 5000])
    expect(record(pair, 0.5, 'alone', false)).toBeCloseTo(10_000 * (1 - 0.5 / 0.9375))
  })
})

describe('a client teaches a pair', () => {
  const stranger = { network: '192.0.2.1' }
  const other = { network: '192.0.2.2' }
  const withKey = { network: 'key', apiKey: {} }

  test('once in 10 s while no other client has taught it within 10 minutes', () => {
    const pair = new Pair()
    const taught = [0, 9999, 10_000, 15_000, 20_000].map((now) => pair.mayTeach(stranger, now))
    expect(taught).toEqual([true, false, true, false, true])
  })

  test('otherwise once in 10 minutes, with a key once in a minute', () => {
    const pair = new Pair()
    pair.mayTeach(other, 0)
    pair.mayTeach(withKey, 0)
    expect(pair.mayTeach(stranger, 0)).toBe(true)
    expect(pair.mayTeach(stranger, 9 * MINUTE)).toBe(false)
    expect([pair.mayTeach(withKey, MINUTE - 1), pair.mayTeach(withKey, MINUTE)]).toEqual([false, true])
  })

  test('often again when the others have not taught it for 10 minutes', () => {
    const pair = new Pair()
    pair.mayTeach(other, 0)
    pair.mayTeach(stranger, MINUTE)
    expect(pair.mayTeach(stranger, 10 * MINUTE)).toBe(false)
    expect(pair.mayTeach(stranger, 10 * MINUTE + 1)).toBe(true)
  })
})

describe('the pairs of a chain', () => {
  const client = { network: '192.0.2.1' }

  test('begin with their first lesson', () => {
    const pairs = new Pairs()
    expect(pairs.of('a')).toBeUndefined()
    const pair = pairs.open('a', client, 1, 0)?.pair
    expect(pairs.of('a')).toBe(pair)
    expect(pairs.open('a', client, 1, 0)).toEqual({ pair, isTaught: false, drop: 0 })
    expect(pairs.of('a')?.of(solver(1).address)).toBeUndefined()
  })

  test('are 2,048: then the one goes that was taught longest ago', () => {
    const pairs = new Pairs()
    for (let number = 0; number < 2048; number++) pairs.open(`${number}`, client, 1, 0)
    pairs.open('0', client, 1, 10_000)
    pairs.open('new', client, 1, 10_000)
    expect([pairs.of('0') !== undefined, pairs.of('1')]).toEqual([true, undefined])
  })
})
