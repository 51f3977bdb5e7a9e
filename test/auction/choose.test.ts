import { describe, expect, test } from 'vitest'
import { choose, rankOf } from '../../src/auction/solver-choice.js'
import { Lessons } from '../../src/standing/lessons.js'

/** Lots in turns, so that a test knows them. */
function lots(...values: number[]) {
  let at = 0
  return () => values[at++ % values.length] ?? 0
}

/** Lessons of offers with these gaps. */
function lessonsOf(...gaps: readonly number[]): Lessons {
  const lessons = new Lessons()
  const offer = { outcome: 'offer', isInTime: true, isQuick: true, gain: 0, wasWaitedFor: false } as const
  for (const gap of gaps) lessons.learn({ ...offer, gap }, 0, 0)
  return lessons
}

/** The lessons of as many solvers. Solver n has the gap n, as far as `known`. */
const solvers = (count: number, known = 0, gapOf = (number: number) => number) =>
  Array.from({ length: count }, (_, number) => (number < known ? lessonsOf(gapOf(number)) : undefined))

/** The numbers of the solvers that a round asks, and why. */
const chosenOf = (lessons: readonly (Lessons | undefined)[], places: number, lot: () => number) =>
  choose(
    lessons.map((known, number) => ({ number, rank: rankOf(known, undefined) })),
    places,
    lot,
  ).map(({ candidate: { number }, chosenBy }) => `${number} ${chosenBy}`)

describe('a round asks', () => {
  test('all, while there are places', () => {
    expect(chosenOf(solvers(3, 3), 3, lots(0))).toEqual(['0 ALL', '1 ALL', '2 ALL'])
  })

  test('four in five by the smallest gap, and the fifth in turns', () => {
    const chosen = chosenOf(solvers(12, 12), 10, lots(0.5))
    expect(chosen.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((number) => `${number} RANK`))
    expect(chosen.slice(8).every((each) => each.endsWith('TURN'))).toBe(true)
  })

  test.each([
    [1, 0, 1],
    [2, 1, 1],
    [5, 4, 1],
    [8, 6, 2],
    [10, 8, 2],
  ])('of %i places, %i by rank and %i in turns', (places, ranked, turns) => {
    const chosen = chosenOf(solvers(20, 20), places, lots(0.5))
    const count = (by: string) => chosen.filter((each) => each.endsWith(by)).length
    expect([count('RANK'), count('TURN')]).toEqual([ranked, turns])
  })

  test('first in turns who was never asked, then by lot', () => {
    const chosen = chosenOf(
      solvers(12, 10),
      5,
      lots(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.9, 0.1),
    )
    expect(chosen.at(-1)).toBe('11 TURN')
    const byLot = chosenOf(solvers(10, 10), 5, lots(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.1, 0.2, 0.3, 0.9))
    expect(byLot.at(-1)).toBe('6 TURN')
  })

  test('in turns for each place that rank leaves empty: a gap of 10,000 is no rank', () => {
    const chosen = chosenOf(
      solvers(12, 12, (number) => (number < 2 ? 5 : 10_000)),
      5,
      Math.random,
    )
    expect(chosen.filter((each) => each.endsWith('RANK')).sort()).toEqual(['0 RANK', '1 RANK'])
    expect(chosen).toHaveLength(5)
  })

  test('by lot when nothing is known', () => {
    const chosen = chosenOf(solvers(12), 10, Math.random)
    expect(new Set(chosen).size).toBe(10)
    expect(chosen.every((each) => each.endsWith('TURN'))).toBe(true)
  })

  test('by the sum of the gaps among equal medians: junk has none where it is asked alone', () => {
    const lessons = [lessonsOf(0, 0, 500), lessonsOf(0), lessonsOf(0, 0, 300)]
    expect(chosenOf(lessons, 2, lots(0.5))[0]).toBe('1 RANK')
  })

  test("by the gap in the client's scorecard, among equal ones by the sum in the pair's", () => {
    expect([
      rankOf(lessonsOf(1, 2), lessonsOf(3)),
      rankOf(lessonsOf(1, 2), undefined),
      rankOf(undefined, lessonsOf(3)),
      // The client's rounds have asked it, and know nothing of it.
      rankOf(lessonsOf(1, 2), new Lessons()),
      rankOf(new Lessons(), undefined),
      rankOf(undefined, undefined),
    ]).toEqual([
      { gap: 3, sum: 3 },
      { gap: 1, sum: 3 },
      { gap: 3, sum: 0 },
      { gap: 1, sum: 3 },
      { gap: 10_000, sum: 0 },
      undefined,
    ])
  })

  test('by lot among equal gaps', () => {
    expect(
      chosenOf(
        solvers(3, 3, () => 1),
        2,
        lots(0.9, 0.1, 0.5),
      )[0],
    ).toBe('1 RANK')
  })
})
