import { describe, expect, test } from 'vitest'
import { createSelection, type Selection } from '../../../src/quoting/round/solver-selection.js'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import {
  answering,
  createHealth,
  openBreaker,
  playRound,
  QUOTE_TIMEOUT_MS,
  roundAt,
} from '../../solvers/conduct/rounds.js'
import { createRandom } from '../../support/random.js'

/** Solvers with their number as name, which are healthy at first. */
function healthy(count: number, from = 0): SolverHealth[] {
  return Array.from({ length: count }, (_, index) => createHealth(from + index))
}

/** Solvers with slow, valid offers. */
function degraded(count: number, from: number): SolverHealth[] {
  return healthy(count, from).map((health) => {
    playRound(0, [{ health, result: 'quoted', tookMs: QUOTE_TIMEOUT_MS - 1 }])
    return health
  })
}

/** Solvers whose breaker opened at time 0. Each further level is a trial that failed at the end of an open period. */
function open(count: number, from: number, level = 1): SolverHealth[] {
  return healthy(count, from).map((health) => {
    let now = openBreaker(health, -3 * QUOTE_TIMEOUT_MS)
    for (let trial = 1; trial < level; trial++) {
      now += 5000 * 2 ** (trial - 1)
      playRound(now, [{ health, result: 'late', tookMs: 0 }, answering(0)], { client: `trial ${trial}` })
    }
    return health
  })
}

/** Chooses solvers for a new client. */
function pickFrom(
  selection: Selection,
  chainId: number,
  all: readonly SolverHealth[],
  limit: number,
  now: number,
) {
  return selection.pick(chainId, all, limit, roundAt(now, { client: 'new' }), now)
}

/** Begins a request to a solver that does not answer. */
function requestQuote(health: SolverHealth, now: number): void {
  health.begin({ round: roundAt(now, { client: 'new' }), waitingSince: now }, now)
}

function names(picked: readonly SolverHealth[]): string[] {
  return picked.map((health) => health.solver.name)
}

const SIZES = Array.from({ length: 13 }, (_, count) => count)

describe.each(SIZES)('of %i solvers', (count) => {
  test.each(SIZES.slice(1))('each is asked equally often when a quote asks at most %i', (limit) => {
    const selection = createSelection()
    const all = healthy(count)
    const asked = new Map(names(all).map((name) => [name, 0]))
    for (let quote = 0; quote < count; quote++) {
      const { awaited, probed } = pickFrom(selection, 1, all, limit, 0)
      expect(awaited).toHaveLength(Math.min(limit, count))
      expect(new Set(awaited).size).toBe(awaited.length)
      expect(probed).toEqual([])
      for (const name of names(awaited)) asked.set(name, (asked.get(name) ?? Number.NaN) + 1)
    }
    expect([...asked.values()]).toEqual(all.map(() => Math.min(limit, count)))
  })
})

test('each quote continues after the last solver of the one before', () => {
  const selection = createSelection()
  const all = healthy(5)
  expect([1, 2, 3].map(() => names(pickFrom(selection, 1, all, 2, 0).awaited))).toEqual([
    ['0', '1'],
    ['2', '3'],
    ['4', '0'],
  ])
})

test('each chain has its own round-robin order', () => {
  const selection = createSelection()
  const all = healthy(3)
  expect(names(pickFrom(selection, 1, all, 1, 0).awaited)).toEqual(['0'])
  expect(names(pickFrom(selection, 2, all, 1, 0).awaited)).toEqual(['0'])
  expect(names(pickFrom(selection, 1, all, 1, 0).awaited)).toEqual(['1'])
})

describe('with more solvers than places', () => {
  test.each([1, 2, 3, 5, 7, 10])(
    'one place in five of at most %i goes to degraded solvers in turn',
    (limit) => {
      const selection = createSelection()
      const all = [...healthy(10), ...degraded(5, 10)]
      const asked = new Map(names(all).map((name) => [name, 0]))
      const quotes = 50
      for (let quote = 0; quote < quotes; quote++) {
        for (const name of names(pickFrom(selection, 1, all, limit, 0).awaited)) {
          asked.set(name, (asked.get(name) ?? Number.NaN) + 1)
        }
      }
      const counts = [...asked.values()]
      expect(counts.slice(0, 10)).toEqual(Array(10).fill((quotes * limit * 4) / 5 / 10))
      expect(counts.slice(10)).toEqual(Array(5).fill((quotes * limit) / 5 / 5))
    },
  )

  test('places that healthy solvers cannot fill go to degraded ones, and vice versa', () => {
    const selection = createSelection()
    const few = [...healthy(2), ...degraded(20, 2)]
    const many = [...healthy(20), ...degraded(1, 20)]
    for (let quote = 0; quote < 20; quote++) {
      const { awaited } = pickFrom(selection, 1, few, 10, 0)
      expect(awaited).toHaveLength(10)
      expect(names(awaited)).toEqual(expect.arrayContaining(['0', '1']))
      expect(pickFrom(selection, 2, many, 10, 0).awaited).toHaveLength(10)
    }
  })
})

describe('with an open breaker', () => {
  test('a solver is asked every 5 s, and no quote waits for it', () => {
    const selection = createSelection()
    const all = [...healthy(2), ...open(1, 2)]
    const pick = (now: number) => {
      const { awaited, probed } = pickFrom(selection, 1, all, 10, now)
      for (const health of probed) requestQuote(health, now)
      return [names(awaited), names(probed)]
    }
    expect(pick(1)).toEqual([['0', '1'], []])
    expect(pick(4999)).toEqual([['0', '1'], []])
  })

  test('a solver with a long open period is asked every 5 s without a quote that waits', () => {
    const selection = createSelection()
    // Its second open period begins at 5 s and lasts 10 s.
    const all = [...healthy(2), ...open(1, 2, 2)]
    const probed = [6000, 9999, 10_000, 10_001, 14_999].map((now) => {
      const picked = pickFrom(selection, 1, all, 10, now)
      for (const health of picked.probed) requestQuote(health, now)
      expect(names(picked.awaited)).toEqual(['0', '1'])
      return names(picked.probed)
    })
    expect(probed).toEqual([[], [], ['2'], [], []])
  })

  test('one quote waits for a solver again after the open period', () => {
    const selection = createSelection()
    const all = [...healthy(2), ...open(1, 2)]
    const picked = pickFrom(selection, 1, all, 10, 5000)
    expect(names(picked.awaited)).toEqual(['0', '1', '2'])
    expect(picked.probed).toEqual([])
    for (const health of picked.awaited) requestQuote(health, 5000)
    expect(names(pickFrom(selection, 1, all, 10, 5001).awaited)).toEqual(['0', '1'])
  })

  test('a quote without other solvers waits for the least severe ones', () => {
    const selection = createSelection()
    const all = [...open(2, 0, 3), ...open(1, 2, 1), ...open(1, 3, 2)]
    expect(names(pickFrom(selection, 1, all, 10, 1).awaited)).toEqual(['2'])
    expect(names(pickFrom(selection, 1, all.slice(0, 2), 10, 1).awaited)).toEqual(['0', '1'])
    expect(names(pickFrom(selection, 1, all.slice(0, 2), 1, 1).awaited)).toEqual(['0'])
  })
})

describe('with all breakers open', () => {
  test('the others are probed while the least severe are asked', () => {
    const selection = createSelection()
    const [worse, better] = [...open(1, 0, 3), ...open(1, 1, 2)]
    const all = [worse as SolverHealth, better as SolverHealth]
    // The third open period of the more severe one begins at 15 s, the second one of the other at 5 s.
    expect(names(pickFrom(selection, 1, all, 10, 14_999).awaited)).toEqual(['1'])
    const { awaited, probed } = pickFrom(selection, 1, all, 10, 20_000)
    expect([...names(awaited), ...names(probed)].toSorted()).toEqual(['0', '1'])
  })

  test('a solver whose open period is over is not the only one asked', () => {
    const selection = createSelection()
    const all = [...open(1, 0, 1), ...open(1, 1, 2)]
    expect(names(pickFrom(selection, 1, all, 10, 5000).awaited)).toEqual(['0', '1'])
  })
})

describe('when the connections to a solver are in use', () => {
  /** Solvers with one connection each, which is in use. */
  function taken(count: number, from: number, usualMs?: number): SolverHealth[] {
    return Array.from({ length: count }, (_, index) => {
      const health = createHealth(from + index, { maxConnections: 1 })
      if (usualMs !== undefined) {
        health.slots.tryTake(-usualMs)
        health.slots.release(-usualMs, 0)
      }
      health.slots.tryTake(0)
      return health
    })
  }

  test('it is left out if others can be asked instead', () => {
    const selection = createSelection()
    const picked = pickFrom(selection, 1, [...taken(2, 0, 100), ...healthy(3, 2)], 3, 0)
    expect(names(picked.awaited)).toEqual(['2', '3', '4'])
  })

  test('it is asked after the others if there are places and a connection is free in time', () => {
    const selection = createSelection()
    const all = [...taken(1, 0, 100), ...taken(1, 1, 1500), ...taken(1, 2), ...healthy(1, 3)]
    const picked = pickFrom(selection, 1, all, 10, 0)
    expect(names(picked.awaited)).toEqual(['3', '0'])
    expect(picked.busy).toBe(2)
  })

  test('it is busy, and no solver with an open breaker is asked instead', () => {
    const selection = createSelection()
    const picked = pickFrom(selection, 1, [...taken(2, 0), ...open(1, 2)], 10, 1)
    expect(picked).toEqual({ awaited: [], probed: [], busy: 2 })
  })
})

test('a quote never asks a solver twice while others register and leave', () => {
  const random = createRandom(51)
  const selection = createSelection()
  for (let quote = 0; quote < 500; quote++) {
    const sound = healthy(random.integer(0, 12))
    const slow = degraded(random.integer(0, 8), sound.length)
    const bad = open(random.integer(0, 3), sound.length + slow.length)
    const limit = random.integer(1, 12)
    const { awaited, probed } = pickFrom(selection, 1, [...sound, ...slow, ...bad], limit, 1)
    const expected = sound.length + slow.length > 0 ? sound.length + slow.length : bad.length
    expect(awaited).toHaveLength(Math.min(limit, expected))
    expect(new Set([...awaited, ...probed]).size).toBe(awaited.length + probed.length)
  }
})
