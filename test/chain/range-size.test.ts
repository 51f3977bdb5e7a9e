import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRangeSize, type RangeSize } from '../../src/chain/range-size.js'

const SEED = 20_260_108
const FIRST_SIZE = 500
const MAX_SIZE = 10_000
const ENOUGH_LOGS = 2000

function refuseDownTo(size: number, range: RangeSize): void {
  while (range.current() > size) range.refused()
}

test('the first range has a size that every node allows', () => {
  expect(createRangeSize().current()).toBe(FIRST_SIZE)
})

describe('a range grows', () => {
  test('fast before the first refusal, up to a limit', () => {
    const range = createRangeSize()
    const sizes = Array.from({ length: 6 }, () => {
      range.succeeded(0)
      return range.current()
    })
    expect(sizes).toEqual([1000, 2000, 4000, 8000, MAX_SIZE, MAX_SIZE])
  })

  test.each(['refused', 'succeeded with too many logs'])('slowly after it %s', (what) => {
    const range = createRangeSize()
    if (what === 'refused') range.refused()
    else range.succeeded(ENOUGH_LOGS + 1)
    const sizes = [1, 2, 3].map(() => {
      range.succeeded(0)
      return range.current()
    })
    expect(sizes).toEqual([275, 303, 334])
  })

  test('from a single block', () => {
    const range = createRangeSize()
    refuseDownTo(1, range)
    const sizes = [1, 2, 3].map(() => {
      range.succeeded(0)
      return range.current()
    })
    expect(sizes).toEqual([2, 3, 4])
  })

  test('while the number of logs is within the limit', () => {
    const range = createRangeSize()
    range.succeeded(ENOUGH_LOGS)
    expect(range.current()).toBe(1000)
    range.succeeded(ENOUGH_LOGS + 1)
    expect(range.current()).toBe(500)
  })
})

describe('a range shrinks', () => {
  test('by half with every refusal, until a single block is refused', () => {
    const range = createRangeSize()
    const sizes: number[] = []
    while (range.refused()) sizes.push(range.current())
    expect(sizes).toEqual([250, 125, 62, 31, 15, 7, 3, 1])
    expect(range.refused()).toBe(false)
    expect(range.current()).toBe(1)
  })

  test('to one block at least, however many logs it has', () => {
    const range = createRangeSize()
    for (let left = 20; left > 0; left--) range.succeeded(1_000_000)
    expect(range.current()).toBe(1)
  })
})

test('a range is always a valid number of blocks', () => {
  const outcome = fc.option(fc.nat(2 * ENOUGH_LOGS), { nil: 'refused' as const })
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 100, size: 'max' }), (outcomes) => {
      const range = createRangeSize()
      for (const logs of outcomes) {
        const before = range.current()
        if (logs === 'refused') expect(range.refused()).toBe(before > 1)
        else range.succeeded(logs)
        expect(range.current()).toSatisfy(Number.isInteger)
        expect(range.current()).toBeGreaterThanOrEqual(1)
        expect(range.current()).toBeLessThanOrEqual(MAX_SIZE)
      }
    }),
    { seed: SEED },
  )
})

test('a range settles near the largest one that a node allows', () => {
  const range = createRangeSize()
  const allowed = 777
  const accepted: number[] = []
  for (let left = 200; left > 0; left--) {
    if (range.current() > allowed) range.refused()
    else {
      accepted.push(range.current())
      range.succeeded(0)
    }
  }
  expect(accepted.length).toBeGreaterThan(140)
  expect(Math.min(...accepted)).toBeGreaterThan(allowed / 3)
})
