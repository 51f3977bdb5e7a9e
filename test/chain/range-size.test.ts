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

test('begins with what any node allows', () => {
  expect(createRangeSize().current()).toBe(FIRST_SIZE)
})

describe('grows', () => {
  test('fast before anything was too much, up to a limit', () => {
    const range = createRangeSize()
    const sizes = Array.from({ length: 6 }, () => {
      range.succeeded(0)
      return range.current()
    })
    expect(sizes).toEqual([1000, 2000, 4000, 8000, MAX_SIZE, MAX_SIZE])
  })

  test.each(['refused', 'succeeded with too many logs'])('a little after it was %s', (what) => {
    const range = createRangeSize()
    if (what === 'refused') range.refused()
    else range.succeeded(ENOUGH_LOGS + 1)
    const sizes = [1, 2, 3].map(() => {
      range.succeeded(0)
      return range.current()
    })
    expect(sizes).toEqual([275, 303, 334])
  })

  test('from a single block as well', () => {
    const range = createRangeSize()
    refuseDownTo(1, range)
    const sizes = [1, 2, 3].map(() => {
      range.succeeded(0)
      return range.current()
    })
    expect(sizes).toEqual([2, 3, 4])
  })

  test('while as many logs come as are welcome, and no more', () => {
    const range = createRangeSize()
    range.succeeded(ENOUGH_LOGS)
    expect(range.current()).toBe(1000)
    range.succeeded(ENOUGH_LOGS + 1)
    expect(range.current()).toBe(500)
  })
})

describe('shrinks', () => {
  test('by half with every refusal, until a single block is refused', () => {
    const range = createRangeSize()
    const sizes: number[] = []
    while (range.refused()) sizes.push(range.current())
    expect(sizes).toEqual([250, 125, 62, 31, 15, 7, 3, 1])
    expect(range.refused()).toBe(false)
    expect(range.current()).toBe(1)
  })

  test('to no less than a block, however many logs there are in it', () => {
    const range = createRangeSize()
    for (let left = 20; left > 0; left--) range.succeeded(1_000_000)
    expect(range.current()).toBe(1)
  })
})

test('is always a number of blocks that may be asked for', () => {
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

test('settles near the largest range that a node allows', () => {
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
