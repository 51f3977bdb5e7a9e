import { beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { Lessons, Pair, Pairs, type Teacher } from '../../src/standing/lessons.js'
import { solver } from '../solvers/sample-solver.js'

const MINUTE = 60_000
function lessonsOf(gaps: readonly number[]): Lessons {
  const lessons = new Lessons()
  for (const gap of gaps) lessons.addGap(gap)
  return lessons
}

/** Answers one after the other, each of which was worth the wait or not. The rounds waited for them, or not. */
function answersOf(worths: readonly boolean[], wasWaitedFor = false, lessons = new Lessons()): Lessons {
  for (const isWorth of worths) lessons.addWorth(isWorth, wasWaitedFor)
  return lessons
}

const YES = Array(99).fill(true)
const NO = Array(99).fill(false)

describe('the lessons of a solver', () => {
  test.each([
    [[], undefined],
    [[3], 3],
    [[1, 9], 1],
    [[9, 1, 5], 5],
    // The first one is forgotten with the tenth.
    [[0, 7, 7, 7, 7, 8, 8, 8, 8, 8], 8],
  ])('%j have the median gap %s', (gaps, median) => {
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
    [0, 0, false],
    [5, 4, true],
    [5, 5, false],
    [9999, 999, true],
    [9999, 1000, false],
  ])(
    'after a loss of %i basis points and %i waits in vain, rounds that are worse than usual wait for it: %s',
    (loss, waits, isOwed) => {
      const lessons = new Lessons()
      lessons.recordLoss(loss)
      answersOf(Array(99).fill(false), false, lessons)
      expect(answersOf(Array(waits).fill(false), true, lessons).isOwed).toBe(isOwed)
    },
  )

  test.each([
    [[], false],
    [[true], true],
    [[true, false], false],
    [[...YES, ...NO.slice(0, 9)], true],
    [[...YES, ...NO.slice(0, 50)], false],
    [[...NO, true], true],
  ])('after offers that were quick as in %j, it is quick: %s', (offers, isQuick) => {
    const lessons = new Lessons()
    for (const isOfferQuick of offers) lessons.recordOffer(isOfferQuick, true, 0)
    expect(lessons.isQuick).toBe(isQuick)
  })

  test('say of the offers in rounds that do not teach the pair what one in 30 s says', () => {
    const lessons = new Lessons()
    lessons.recordOffer(true, true, 0)
    const isQuickAfterSlowOne = [29_999, 30_000].map((now) => {
      lessons.recordOffer(false, false, now)
      return lessons.isQuick
    })
    expect(isQuickAfterSlowOne).toEqual([true, false])
  })

  test.each<[[number, number, number], number, boolean]>([
    [[1, 9, 0], 0, true],
    [[99, 50, 0], 0, false],
    [[1, 0, 0], 60_000, true],
    [[1, 0, 0], 60_001, false],
    [[1, 99, 1], 0, true],
  ])(
    'after %j offers, requests without one and offers it is reliable %i ms later: %s',
    ([offers, misses, more], now, isReliable) => {
      const lessons = new Lessons()
      for (let offer = 0; offer < offers; offer++) lessons.recordOffer(true, true, 0)
      for (let miss = 0; miss < misses; miss++) lessons.recordMiss()
      for (let offer = 0; offer < more; offer++) lessons.recordOffer(true, true, 0)
      expect(lessons.isReliable(now)).toBe(isReliable)
    },
  )

  test.each([
    [99, 9, 3],
    [99, 60, 10_000],
    [0, 24, undefined],
    [0, 25, 10_000],
  ])('after %i offers, of %i requests without one the median gap is %s', (offers, misses, medianGap) => {
    const lessons = new Lessons()
    for (let offer = 0; offer < offers; offer++) {
      lessons.recordOffer(true, true, 0)
      lessons.addGap(3)
    }
    for (let miss = 0; miss < misses; miss++) lessons.recordMiss()
    expect(lessons.medianGap).toBe(medianGap)
  })

  test('end to say that it quotes the pair after a day without an offer', () => {
    const lessons = new Lessons()
    expect(lessons.hasQuoted(0)).toBe(false)
    lessons.recordOffer(true, true, 0)
    expect([lessons.hasQuoted(24 * 60 * MINUTE), lessons.hasQuoted(24 * 60 * MINUTE + 1)]).toEqual([
      true,
      false,
    ])
  })
})

/** An answer of the rate. */
const answerOf = (rate: number, winner = solver(1).address, askedFirst: readonly Address[] = []) => {
  return { rate, winner, askedFirst }
}

/** Records answers of the rate, of as many clients. Each teaches the pair. */
function answer(pair: Pair, rate: number, clients: number): void {
  for (let client = 0; client < clients; client++)
    pair.recordAnswer(answerOf(rate), { network: `${rate} ${client}` }, true, 0)
}

describe('the usual rate of a pair', () => {
  test('is the median of its last 49 answers that taught it', () => {
    const pair = new Pair()
    answer(pair, 1, 25)
    answer(pair, 0.5, 24)
    pair.recordAnswer(answerOf(0.5), { network: 'untaught' }, false, 0)
    expect(pair.usualRate({ network: 'new' })).toBe(1)
    answer(pair, 0.5, 1)
    expect(pair.usualRate({ network: 'new' })).toBe(0.5)
  })

  test('is above any answer until 49 have taught it: strangers may have begun it', () => {
    const pair = new Pair()
    answer(pair, 0.5, 48)
    pair.recordAnswer(answerOf(1), { network: 'alone' }, false, 0)
    expect(pair.usualRate({ network: 'alone' })).toBe(Number.POSITIVE_INFINITY)
    answer(pair, 0.25, 1)
    expect(['other', 'alone'].map((network) => pair.usualRate({ network }))).toEqual([0.5, 1])
  })

  test('is what the client itself was answered, where that was better', () => {
    const pair = new Pair()
    pair.recordAnswer(answerOf(1), { network: 'alone' }, true, 0)
    answer(pair, 0.5, 49)
    expect(['other', 'alone'].map((network) => pair.usualRate({ network }))).toEqual([0.5, 1])
  })

  test('rises faster than it falls with the answers of the client', () => {
    const usualAfter = (rate: number) => {
      const pair = new Pair()
      answer(pair, 0.5, 49)
      for (const each of [1, rate]) pair.recordAnswer(answerOf(each), { network: 'alone' }, false, 0)
      return pair.usualRate({ network: 'alone' })
    }
    expect([9, 0.5].map(usualAfter)).toEqual([2, 1 - 2 ** -10])
  })

  /** How far the usual rate of a client is above that of its first answer after each of these drops. In basis points. */
  const raisedBy = (drops: readonly number[]) => {
    const pair = new Pair()
    answer(pair, 0.5, 49)
    const client = { network: 'alone' }
    return [0, ...drops].map((drop) => {
      pair.recordAnswer(answerOf(1 - drop / 10_000), client, false, 0)
      return Math.round((pair.usualRate(client) - 1) * 100_000_000) / 10_000
    })
  }

  test('rises by each drop of the client beyond 1 basis point, until one is worse than usual and takes it down', () => {
    expect(raisedBy([3, 1, 3])).toEqual([0, 2, 2, -0.0059])
  })

  test('stays while drops are small, and a better answer makes up for them', () => {
    expect(raisedBy([1, 0.5, 4, 0, 0, 0, 0])).toEqual([0, 0, 0, 3, 2, 1, 0, 0])
  })
})

describe('the winners of a client', () => {
  const winnersOf = (pairs: Pairs, network: string, now = 1) => pairs.of('a')?.winnersFor({ network }, now)

  test('are the last five that made its answers, each once, the latest first', () => {
    const pairs = new Pairs()
    for (const number of [1, 2, 1, 3, 4, 5, 6])
      pairs.open('a', { network: 'client' }, answerOf(1, solver(number).address), 0)
    expect(winnersOf(pairs, 'client')).toEqual([6, 5, 4, 3, 1].map((number) => solver(number).address))
    expect(winnersOf(pairs, 'other')).toEqual([])
  })

  test('are none for a round that would teach the pair', () => {
    const pairs = new Pairs()
    pairs.open('a', { network: 'client' }, answerOf(1), 0)
    expect([9_999, 10_000].map((now) => winnersOf(pairs, 'client', now)?.length)).toEqual([1, 0])
  })
})

describe('a client teaches a pair', () => {
  let pairs: Pairs
  beforeEach(() => {
    pairs = new Pairs()
  })
  const teaches = (client: Teacher, now: number, askedFirst: readonly Address[] = []) =>
    pairs.open('a', client, answerOf(1, solver(1).address, askedFirst), now).isTaught
  const stranger = { network: '192.0.2.1' }
  const other = { network: '192.0.2.2' }
  const withKey = { network: 'key', apiKey: {} }

  test('once in 10 s while no other client has taught it within 10 minutes', () => {
    const taught = [0, 9999, 10_000, 15_000, 20_000].map((now) => teaches(stranger, now))
    expect(taught).toEqual([true, false, true, false, true])
  })

  test('otherwise once in 10 minutes, with a key once in a minute', () => {
    expect([other, withKey, stranger].map((client) => teaches(client, 0))).toEqual([true, true, true])
    expect(teaches(stranger, 9 * MINUTE)).toBe(false)
    expect([MINUTE - 1, MINUTE].map((now) => teaches(withKey, now))).toEqual([false, true])
  })

  test('often again when the others have not taught it for 10 minutes', () => {
    teaches(other, 0)
    teaches(stranger, MINUTE)
    expect([10 * MINUTE, 10 * MINUTE + 1].map((now) => teaches(stranger, now))).toEqual([false, true])
  })

  test('not with a round that has asked winners first, whenever it is answered', () => {
    teaches(stranger, 0)
    expect(teaches(stranger, MINUTE, [solver(1).address])).toBe(false)
    expect(teaches(stranger, MINUTE)).toBe(true)
  })
})

describe('the pairs of a chain', () => {
  const client = { network: '192.0.2.1' }

  test('begin with their first lesson', () => {
    const pairs = new Pairs()
    expect(pairs.of('a')).toBeUndefined()
    const { pair } = pairs.open('a', client, answerOf(1), 0)
    expect(pairs.of('a')).toBe(pair)
    expect(pairs.open('a', client, answerOf(1), 0)).toEqual({ pair, isTaught: false })
    expect(pairs.of('a')?.of(solver(1).address)).toBeUndefined()
  })

  test('are 2,048: then the one goes that was taught longest ago', () => {
    const pairs = new Pairs()
    for (let number = 0; number < 2048; number++) pairs.open(`${number}`, client, answerOf(1), 0)
    pairs.open('0', client, answerOf(1), 10_000)
    pairs.open('new', client, answerOf(1), 10_000)
    expect([pairs.of('0') !== undefined, pairs.of('1')]).toEqual([true, undefined])
  })
})
