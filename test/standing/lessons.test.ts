import { describe, expect, test } from 'vitest'
import { Lessons } from '../../src/standing/lessons.js'

const MINUTE = 60_000
function lessonsOf(gaps: readonly number[]): Lessons {
  const lessons = new Lessons()
  for (const gap of gaps) lessons.gaps.add(gap)
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
    expect(lessonsOf(gaps).gaps.median).toBe(median)
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
      lessons.gaps.add(3)
    }
    for (let miss = 0; miss < misses; miss++) lessons.recordMiss()
    expect(lessons.gaps.median).toBe(medianGap)
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
