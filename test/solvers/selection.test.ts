import { describe, expect, test } from 'vitest'
import type { Solver } from '../../src/domain/solver.js'
import { Peers } from '../../src/solvers/peers.js'
import { createSelection } from '../../src/solvers/selection.js'
import { SolverRecord } from '../../src/solvers/solver-record.js'
import { createRandom } from '../random.js'

const QUOTE_TIMEOUT_MS = 2000

function solver(number: number): Solver {
  return {
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: 'https://solver.example.org',
    name: String(number),
    registeredAt: number,
    isBonded: true,
  }
}

/** Records of solvers that have their number as name, and are sound until something is made of them. */
function records(count: number, from = 0): SolverRecord[] {
  return Array.from(
    { length: count },
    (_, index) =>
      new SolverRecord(solver(from + index), { quoteTimeoutMs: QUOTE_TIMEOUT_MS, onBench: () => {} }),
  )
}

/** Slow, yet valid: weak. */
function weak(count: number, from: number): SolverRecord[] {
  return records(count, from).map((record) => {
    record.ask(0, new Peers(1)).end('valid', QUOTE_TIMEOUT_MS - 1)
    return record
  })
}

/** Benched at time 0; each level more is a trial that failed when the term before was over. */
function benched(count: number, from: number, level = 1): SolverRecord[] {
  return records(count, from).map((record) => {
    for (let failure = 0; failure < 3; failure++) record.ask(0, new Peers(1)).end('failed', 0)
    let now = 0
    for (let trial = 1; trial < level; trial++) {
      now += 5000 * 2 ** (trial - 1)
      record.ask(now, new Peers(1)).end('failed', now)
    }
    return record
  })
}

function names(picked: readonly SolverRecord[]): string[] {
  return picked.map((record) => record.solver.name)
}

const SIZES = Array.from({ length: 13 }, (_, count) => count)

describe.each(SIZES)('of %i solvers', (count) => {
  test.each(SIZES.slice(1))('with at most %i asked, each gets its turn as often as any other', (limit) => {
    const selection = createSelection()
    const all = records(count)
    const asked = new Map(names(all).map((name) => [name, 0]))
    for (let quote = 0; quote < count; quote++) {
      const { awaited, probed } = selection.pick(1, all, limit, 0)
      expect(awaited).toHaveLength(Math.min(limit, count))
      expect(new Set(awaited).size).toBe(awaited.length)
      expect(probed).toEqual([])
      for (const name of names(awaited)) asked.set(name, (asked.get(name) ?? Number.NaN) + 1)
    }
    expect([...asked.values()]).toEqual(all.map(() => Math.min(limit, count)))
  })
})

test('each quote goes on behind the last solver of the one before', () => {
  const selection = createSelection()
  const all = records(5)
  expect([1, 2, 3].map(() => names(selection.pick(1, all, 2, 0).awaited))).toEqual([
    ['0', '1'],
    ['2', '3'],
    ['4', '0'],
  ])
})

test('each chain has its own turns', () => {
  const selection = createSelection()
  const all = records(3)
  expect(names(selection.pick(1, all, 1, 0).awaited)).toEqual(['0'])
  expect(names(selection.pick(2, all, 1, 0).awaited)).toEqual(['0'])
  expect(names(selection.pick(1, all, 1, 0).awaited)).toEqual(['1'])
})

describe('with more solvers than places', () => {
  test.each([1, 2, 3, 5, 7, 10])(
    'at most %i: one place in five is for the weak, and all of them get it in turn',
    (limit) => {
      const selection = createSelection()
      const all = [...records(10), ...weak(5, 10)]
      const asked = new Map(names(all).map((name) => [name, 0]))
      const quotes = 50
      for (let quote = 0; quote < quotes; quote++) {
        for (const name of names(selection.pick(1, all, limit, 0).awaited)) {
          asked.set(name, (asked.get(name) ?? Number.NaN) + 1)
        }
      }
      const counts = [...asked.values()]
      expect(counts.slice(0, 10)).toEqual(Array(10).fill((quotes * limit * 4) / 5 / 10))
      expect(counts.slice(10)).toEqual(Array(5).fill((quotes * limit) / 5 / 5))
    },
  )

  test('places that the sound cannot fill are for the weak, and the other way round', () => {
    const selection = createSelection()
    const few = [...records(2), ...weak(20, 2)]
    const many = [...records(20), ...weak(1, 20)]
    for (let quote = 0; quote < 20; quote++) {
      const { awaited } = selection.pick(1, few, 10, 0)
      expect(awaited).toHaveLength(10)
      expect(names(awaited)).toEqual(expect.arrayContaining(['0', '1']))
      expect(selection.pick(2, many, 10, 0).awaited).toHaveLength(10)
    }
  })
})

describe('on the bench', () => {
  test('a solver is not waited for, and asked every 5 s', () => {
    const selection = createSelection()
    const all = [...records(2), ...benched(1, 2)]
    const pick = (now: number) => {
      const { awaited, probed } = selection.pick(1, all, 10, now)
      for (const record of probed) record.ask(now, new Peers(1))
      return [names(awaited), names(probed)]
    }
    expect(pick(1)).toEqual([['0', '1'], []])
    expect(pick(4999)).toEqual([['0', '1'], []])
  })

  test('a solver of a long term is asked every 5 s, though nobody waits', () => {
    const selection = createSelection()
    // Its second term begins at 5 s and takes 10.
    const all = [...records(2), ...benched(1, 2, 2)]
    const probed = [6000, 9999, 10_000, 10_001, 14_999].map((now) => {
      const picked = selection.pick(1, all, 10, now)
      for (const record of picked.probed) record.ask(now, new Peers(1))
      expect(names(picked.awaited)).toEqual(['0', '1'])
      return names(picked.probed)
    })
    expect(probed).toEqual([[], [], ['2'], [], []])
  })

  test('when the term is over, one quote waits for it again', () => {
    const selection = createSelection()
    const all = [...records(2), ...benched(1, 2)]
    const picked = selection.pick(1, all, 10, 5000)
    expect(names(picked.awaited)).toEqual(['0', '1', '2'])
    expect(picked.probed).toEqual([])
    for (const record of picked.awaited) record.ask(5000, new Peers(3))
    expect(names(selection.pick(1, all, 10, 5001).awaited)).toEqual(['0', '1'])
  })

  test('with nobody else, the least bad are asked and waited for', () => {
    const selection = createSelection()
    const all = [...benched(2, 0, 3), ...benched(1, 2, 1), ...benched(1, 3, 2)]
    expect(names(selection.pick(1, all, 10, 1).awaited)).toEqual(['2'])
    expect(names(selection.pick(1, all.slice(0, 2), 10, 1).awaited)).toEqual(['0', '1'])
    expect(names(selection.pick(1, all.slice(0, 2), 1, 1).awaited)).toEqual(['0'])
  })
})

describe('with everybody on the bench', () => {
  test('the others are probed while the least bad are asked', () => {
    const selection = createSelection()
    const [worse, better] = [...benched(1, 0, 3), ...benched(1, 1, 2)]
    const all = [worse as SolverRecord, better as SolverRecord]
    // The third term of the worse one begins at 15 s, the second one of the better at 5 s.
    expect(names(selection.pick(1, all, 10, 14_999).awaited)).toEqual(['1'])
    const { awaited, probed } = selection.pick(1, all, 10, 20_000)
    expect([...names(awaited), ...names(probed)].toSorted()).toEqual(['0', '1'])
  })

  test('one whose term is over is not asked alone', () => {
    const selection = createSelection()
    const all = [...benched(1, 0, 1), ...benched(1, 1, 2)]
    expect(names(selection.pick(1, all, 10, 5000).awaited)).toEqual(['0', '1'])
  })
})

test('solvers that come and go never make one be asked twice in a quote', () => {
  const random = createRandom(51)
  const selection = createSelection()
  for (let quote = 0; quote < 500; quote++) {
    const sound = records(random.integer(0, 12))
    const slow = weak(random.integer(0, 8), sound.length)
    const bad = benched(random.integer(0, 3), sound.length + slow.length)
    const limit = random.integer(1, 12)
    const { awaited, probed } = selection.pick(1, [...sound, ...slow, ...bad], limit, 1)
    const expected = sound.length + slow.length > 0 ? sound.length + slow.length : bad.length
    expect(awaited).toHaveLength(Math.min(limit, expected))
    expect(new Set([...awaited, ...probed]).size).toBe(awaited.length + probed.length)
  }
})
