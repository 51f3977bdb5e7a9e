import { describe, expect, test } from 'vitest'
import type { Solver } from '../../src/domain/solver.js'
import { createSelection } from '../../src/solvers/selection.js'
import { createRandom } from '../random.js'

/** Solvers with their number as name. */
function solvers(count: number): Solver[] {
  return Array.from({ length: count }, (_, number) => ({
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: 'https://solver.example.org',
    name: String(number),
    registeredAt: number,
    isBonded: true,
  }))
}

function names(picked: readonly Solver[]): string[] {
  return picked.map(({ name }) => name)
}

const SIZES = Array.from({ length: 13 }, (_, count) => count)

describe.each(SIZES)('of %i solvers', (count) => {
  test.each(SIZES.slice(1))('with at most %i asked, each gets its turn as often as any other', (limit) => {
    const selection = createSelection()
    const all = solvers(count)
    const asked = new Map(names(all).map((name) => [name, 0]))
    for (let quote = 0; quote < count; quote++) {
      const picked = names(selection.pick(1, all, limit))
      expect(picked).toHaveLength(Math.min(limit, count))
      expect(new Set(picked).size).toBe(picked.length)
      for (const name of picked) asked.set(name, (asked.get(name) ?? Number.NaN) + 1)
    }
    expect([...asked.values()]).toEqual(all.map(() => Math.min(limit, count)))
  })
})

test('each quote goes on behind the last solver of the one before', () => {
  const selection = createSelection()
  const all = solvers(5)
  expect([1, 2, 3].map(() => names(selection.pick(1, all, 2)))).toEqual([
    ['0', '1'],
    ['2', '3'],
    ['4', '0'],
  ])
})

test('each chain has its own turns', () => {
  const selection = createSelection()
  const all = solvers(3)
  expect(names(selection.pick(1, all, 1))).toEqual(['0'])
  expect(names(selection.pick(2, all, 1))).toEqual(['0'])
  expect(names(selection.pick(1, all, 1))).toEqual(['1'])
})

test('solvers that come and go never make one be asked twice in a quote', () => {
  const random = createRandom(51)
  const selection = createSelection()
  for (let quote = 0; quote < 500; quote++) {
    const all = solvers(random.integer(0, 20))
    const limit = random.integer(1, 12)
    const picked = names(selection.pick(1, all, limit))
    expect(picked).toHaveLength(Math.min(limit, all.length))
    expect(new Set(picked).size).toBe(picked.length)
  }
})
