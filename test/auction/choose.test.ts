import { describe, expect, test } from 'vitest'
import { choose } from '../../src/auction/solver-choice.js'
import { Gaps, Lessons } from '../../src/standing/lessons.js'

/** Lots in turns, so that a test knows them. */
function lots(...values: number[]) {
  let at = 0
  return () => values[at++ % values.length] ?? 0
}

/** Candidates with the lessons of a pair. */
const candidates = (count: number, pair: readonly Lessons[] = []) =>
  Array.from({ length: count }, (_, number) => ({ name: `${number}`, lessons: pair[number] }))

/** The lessons of a pair in which solver n has the gap n, as far as `known`. */
const pairWith = (known: number, gapOf = (number: number) => number) =>
  Array.from({ length: known }, (_, number) => {
    const lessons = new Lessons()
    lessons.gaps.add(gapOf(number))
    return lessons
  })

/** Whom a round asks when the client's own rounds say nothing. */
const chosenOf = (among: ReturnType<typeof candidates>, places: number, lot: () => number) =>
  names(choose(among, places, () => undefined, lot))

const names = (chosen: ReturnType<typeof choose<ReturnType<typeof candidates>[number]>>) =>
  chosen.map(({ candidate, chosenBy }) => `${candidate.name} ${chosenBy}`)

describe('a round asks', () => {
  test('all, while there are places', () => {
    expect(chosenOf(candidates(3, pairWith(3)), 3, lots(0))).toEqual(['0 ALL', '1 ALL', '2 ALL'])
  })

  test('four in five by the smallest gap, and the fifth in turns', () => {
    const chosen = chosenOf(candidates(12, pairWith(12)), 10, lots(0.5))
    expect(chosen.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((number) => `${number} RANK`))
    expect(chosen.slice(8).every((each) => each.endsWith('TURN'))).toBe(true)
  })

  test("by the gap in the client's own rounds where there is one, whatever others have taught", () => {
    const gaps: Record<string, readonly number[]> = { 0: [10_000], 1: [2.5], 10: [0, 1], 11: [0] }
    const own = ({ name }: { name: string }) => {
      const known = new Gaps()
      for (const gap of gaps[name] ?? []) known.add(gap)
      return name in gaps ? known : undefined
    }
    const chosen = names(choose(candidates(12, pairWith(12)), 5, own, lots(0.5)))
    expect(chosen.slice(0, 4)).toEqual(['10 RANK', '11 RANK', '2 RANK', '1 RANK'])
  })

  test.each([
    [1, 0, 1],
    [2, 1, 1],
    [5, 4, 1],
    [8, 6, 2],
    [10, 8, 2],
  ])('of %i places, %i by rank and %i in turns', (places, ranked, turns) => {
    const chosen = chosenOf(candidates(20, pairWith(20)), places, lots(0.5))
    const count = (by: string) => chosen.filter((each) => each.endsWith(by)).length
    expect([count('RANK'), count('TURN')]).toEqual([ranked, turns])
  })

  test('first in turns who was never asked in the pair, then by lot', () => {
    const pair = pairWith(10)
    const chosen = chosenOf(
      candidates(12, pair),
      5,
      lots(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.9, 0.1),
    )
    expect(chosen.at(-1)).toBe('11 TURN')
    const byLot = chosenOf(candidates(10, pair), 5, lots(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.1, 0.2, 0.3, 0.9))
    expect(byLot.at(-1)).toBe('6 TURN')
  })

  test('in turns for each place that rank leaves empty: a gap of 10,000 is no rank', () => {
    const chosen = chosenOf(
      candidates(
        12,
        pairWith(12, (number) => (number < 2 ? 5 : 10_000)),
      ),
      5,
      Math.random,
    )
    expect(chosen.filter((each) => each.endsWith('RANK')).sort()).toEqual(['0 RANK', '1 RANK'])
    expect(chosen).toHaveLength(5)
  })

  test('by lot in a pair that nobody has taught', () => {
    const chosen = chosenOf(candidates(12), 10, Math.random)
    expect(new Set(chosen).size).toBe(10)
    expect(chosen.every((each) => each.endsWith('TURN'))).toBe(true)
  })

  test('by the sum of the gaps among equal medians: junk has none where it is asked alone', () => {
    const pair = pairWith(3, () => 0)
    for (const gap of [0, 500]) pair[0]?.gaps.add(gap)
    for (const gap of [0, 300]) pair[2]?.gaps.add(gap)
    expect(chosenOf(candidates(3, pair), 2, lots(0.5))[0]).toBe('1 RANK')
  })

  test('by lot among equal gaps', () => {
    const equal = pairWith(3, () => 1)
    expect(chosenOf(candidates(3, equal), 2, lots(0.9, 0.1, 0.5))[0]).toBe('1 RANK')
  })
})
