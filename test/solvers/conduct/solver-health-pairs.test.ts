import { beforeEach, describe, expect, test } from 'vitest'
import { QuoteRound } from '../../../src/solvers/conduct/round-verdicts.js'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import { createHealth, playRounds, type ResultKind, type RoundsOptions, roundAt } from './rounds.js'

const SECOND = 1000
const MINUTE = 60_000

let health: SolverHealth

beforeEach(() => {
  health = createHealth()
})

const play = (now: number, result: ResultKind, options?: RoundsOptions) =>
  playRounds(health, now, result, options)

describe('a token pair', () => {
  test('that the solver has not quoted does not count, also with a timeout', () => {
    play(play(0, 'quoted', { pair: 'ab' }), 'late', { times: 10, pair: 'cd' })
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
  })

  test('in the other direction is another one', () => {
    play(0, 'quoted')
    const other = { inputToken: '0xab2', outputToken: '0xab1' } as const
    const round = new QuoteRound({ request: other, startedAt: 0, limitMs: 1, client: 'a' })
    expect(round.pair).not.toBe(roundAt(0).pair)
  })

  test('counts for 24 hours after the last offer', () => {
    const day = 24 * 60 * MINUTE
    let at = play(0, 'quoted')
    at = play(12 * 60 * MINUTE, 'quoted')
    play(at + day - 10_000, 'late', { times: 2 })
    expect(health.validShare).toBeLessThan(1)
    play(at + day + 1, 'late', { times: 5 })
    expect(health.isOpen).toBe(false)
  })

  test('is kept only among the last 512', () => {
    play(0, 'quoted', { pair: 'first' })
    for (let number = 0; number < 512; number++) play(0, 'quoted', { pair: `${number}` })
    play(SECOND, 'late', { times: 5, pair: 'first' })
    expect(health.isOpen).toBe(false)
    play(SECOND, 'late', { times: 3, pair: '0' })
    expect(health.isOpen).toBe(true)
  })

  test('counts in any case while the solver has never quoted', () => {
    play(0, 'late', { pair: 'ab' })
    play(0, 'late', { pair: 'cd' })
    play(0, 'late', { pair: 'ef' })
    expect(health.isOpen).toBe(true)
  })
})
