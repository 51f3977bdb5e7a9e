import { describe, expect, test } from 'vitest'
import { type Lesson, Lessons } from '../../src/standing/lessons.js'

const DAY = 24 * 3_600_000
/** An offer in time and within the soft deadline, as good as the best one. */
const OFFER: Lesson = {
  outcome: 'offer',
  isInTime: true,
  isQuick: true,
  gap: 0,
  gain: 0,
  wasWaitedFor: false,
}
const MISS: Lesson = { ...OFFER, outcome: 'none' }
const SLOW: Lesson = { ...OFFER, isQuick: false }
/** After the soft deadline, and better than all before it: worth the wait. */
const WORTH: Lesson = { ...SLOW, gain: 1 }
/** After the answer: nobody had waited for it. */
const LATE: Lesson = { ...WORTH, gap: -1, isInTime: false }
const VAIN: Lesson = { ...SLOW, wasWaitedFor: true }
const FOUND: Lesson = { ...WORTH, wasWaitedFor: true }

const times = (count: number, lesson: Lesson): readonly Lesson[] => Array(count).fill(lesson)

/** The lessons of one time, in rounds whose answers were worse than usual by so many basis points. */
function learnt(taught: readonly Lesson[], drop = 0, lessons = new Lessons()): Lessons {
  for (const lesson of taught) lessons.learn(lesson, drop, 0)
  return lessons
}

describe('the gap of a solver', () => {
  test.each<[string, readonly Lesson[], number | undefined]>([
    ['without a lesson', [], undefined],
    ['of an offer', [{ ...OFFER, gap: 12.34 }], 12.34],
    ['of a very bad one', [{ ...OFFER, gap: 1e9 }], 10_000],
    ['of a better one after the answer', [LATE], 0],
    ['of a worse one after the answer', [{ ...LATE, gap: 7 }], 7],
    ['of one after the answer, for which the round had waited', [{ ...LATE, wasWaitedFor: true }], 10_000],
    ['of a request without an offer', [MISS], 10_000],
    ['of what says nothing of the solver', [{ ...OFFER, outcome: 'unknown' }], undefined],
  ])('%s', (_what, taught, gap) => {
    expect(learnt(taught).gap).toBe(gap)
  })

  test.each([
    [[1, 9], 1],
    [[9, 1, 5], 5],
    // The first one is forgotten with the tenth.
    [[0, 7, 7, 7, 7, 8, 8, 8, 8, 8], 8],
  ])('after offers with %j is their median, %s', (gaps, median) => {
    expect(learnt(gaps.map((gap) => ({ ...OFFER, gap }))).gap).toBe(median)
  })

  /** After offers 30 s apart, so many requests without one, some time after the last offer. */
  test.each([
    [99, 24, 60_000, 0],
    [99, 24, 60_001, 10_000],
    [99, 30, 0, 10_000],
    // It begins as if it had made 25.
    [1, 24, 0, 0],
    [1, 30, 0, 10_000],
  ])(
    'after %i offers is not that of %i requests without one %i ms later, while it is reliable: %i',
    (offers, misses, afterMs, gap) => {
      const lessons = new Lessons()
      for (let offer = 1; offer <= offers; offer++) lessons.learn(OFFER, 0, offer * 30_000)
      const now = offers * 30_000 + afterMs
      for (let miss = 0; miss < misses; miss++) lessons.learn(MISS, 0, now)
      expect([lessons.gap, lessons.isReliable(now)]).toEqual([gap, gap === 0])
    },
  )

  test.each([
    [29_999, false],
    [30_000, true],
  ])('an offer %i ms after another makes it reliable again: %s', (afterMs, isReliable) => {
    const lessons = learnt([OFFER, ...times(25, MISS)])
    lessons.hear(OFFER, 0, afterMs)
    expect(lessons.isReliable(afterMs)).toBe(isReliable)
  })
})

describe('a solver is worth waiting for', () => {
  test.each<[string, boolean, readonly Lesson[]]>([
    ['after one answer that was worth it', false, [WORTH, ...times(99, SLOW), WORTH]],
    ['after two', true, [WORTH, SLOW, WORTH]],
    ['after two that came when nobody waited', true, [LATE, LATE]],
    ['after two that were better by less than 1 basis point', false, times(2, { ...WORTH, gain: 0.99 })],
    ['after two that came too late for rounds that waited', false, times(2, { ...LATE, wasWaitedFor: true })],
    ['after two with four between them that were not worth it', false, [WORTH, ...times(4, SLOW), WORTH]],
    ['until 15 were not worth it', true, [...times(99, WORTH), ...times(15, SLOW)]],
    ['until 16 were not worth it', false, [...times(99, WORTH), ...times(16, SLOW)]],
    ['after declines within the soft deadline', true, [...times(2, WORTH), ...times(99, MISS)]],
    ['after later ones', false, [...times(2, WORTH), ...times(9, { ...MISS, isQuick: false })]],
  ])('%s: %s', (_when, isWorth, taught) => {
    expect(learnt(taught).isWorthWaiting).toBe(isWorth)
  })

  test('but barred for 200 lessons, after 20 waits in a row that were in vain', () => {
    const lessons = learnt([...times(19, VAIN), FOUND, ...times(19, VAIN), WORTH, WORTH])
    expect(lessons.isBarred).toBe(false)
    learnt([VAIN], 0, lessons)
    for (let lesson = 0; lesson < 200; lesson++) {
      expect(lessons.isBarred).toBe(true)
      learnt([WORTH], 0, lessons)
    }
    expect(lessons).toMatchObject({ isBarred: false, isWorthWaiting: true })
  })
})

describe('a solver is owed waits', () => {
  test.each<[string, Lesson, number, number]>([
    ['by a better offer after the answer', { ...LATE, gain: 5 }, 9999, 5],
    ['at most as many as the answer was worse than usual', { ...LATE, gain: 9999 }, 5, 5],
    ['at most 1,000', { ...LATE, gain: 9999 }, 9999, 1000],
    ['none when the answer was as usual', { ...LATE, gain: 9999 }, 0, 0],
    ['none by an offer in time', { ...WORTH, gain: 9999 }, 9999, 0],
    ['none when the round had waited for it', { ...LATE, gain: 9999, wasWaitedFor: true }, 9999, 0],
    ['none without an offer', { ...LATE, gain: 9999, outcome: 'unknown' }, 9999, 0],
  ])('%s', (_what, lesson, drop, waits) => {
    for (const hears of [true, false]) {
      const lessons = hears ? new Lessons() : learnt([lesson], drop)
      if (hears) lessons.hear(lesson, drop, 0)
      learnt([...times(99, SLOW), ...times(waits === 0 ? 0 : waits - 1, VAIN)], 0, lessons)
      expect(lessons.isOwed).toBe(waits > 0)
      expect(learnt([VAIN], 0, lessons).isOwed).toBe(false)
    }
  })
})

test.each<[boolean, readonly Lesson[]]>([
  [false, []],
  [true, [OFFER]],
  [true, [{ ...OFFER, isInTime: false }]],
  [false, [OFFER, SLOW]],
  [true, [...times(99, SLOW), ...times(5, OFFER)]],
  [false, [...times(99, SLOW), ...times(4, OFFER)]],
  [true, [OFFER, ...times(99, MISS)]],
])(
  'a solver is quick when most of its last nine offers were within the soft deadline: %s',
  (isQuick, taught) => {
    expect(learnt(taught).isQuick).toBe(isQuick)
  },
)

test('of a round that does not teach, only an offer and a loss are known', () => {
  const lessons = new Lessons()
  expect([lessons.hasQuoted(0), lessons.isReliable(0)]).toEqual([false, false])
  for (const lesson of [LATE, LATE, MISS]) lessons.hear(lesson, 5, 0)
  expect(lessons).toMatchObject({ gap: undefined, isWorthWaiting: false, isQuick: false, isOwed: true })
  expect([lessons.isReliable(60_000), lessons.isReliable(60_001)]).toEqual([true, false])
  expect([lessons.hasQuoted(DAY), lessons.hasQuoted(DAY + 1)]).toEqual([true, false])
})
