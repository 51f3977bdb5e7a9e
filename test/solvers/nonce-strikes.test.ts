import { describe, expect, it } from 'vitest'
import { createNonceStrikes } from '../../src/solvers/nonce-strikes.js'
import { solver } from '../store/solver-samples.js'

const [one, other, third] = [solver(1).address, solver(2).address, solver(3).address]
const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('strikes', () => {
  it('suspend a solver from the second one within an hour on, for twice as long each time, up to an hour', () => {
    const strikes = createNonceStrikes(10)
    expect(strikes.strike(one, 0)).toBeUndefined()
    expect(strikes.isSuspended(one, 0)).toBe(false)
    let now = HOUR - 1
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(strikes.strike(one, now)).toBe(minutes * MINUTE)
      expect(strikes.isSuspended(one, now + minutes * MINUTE - 1)).toBe(true)
      expect(strikes.isSuspended(other, now)).toBe(false)
      now += minutes * MINUTE
      expect(strikes.isSuspended(one, now)).toBe(false)
    }
  })

  it('do not count during a suspension', () => {
    const strikes = createNonceStrikes(10)
    for (const now of [0, 1, 2, 3]) strikes.strike(one, now)
    expect(strikes.isSuspended(one, 1 + MINUTE)).toBe(false)
    expect(strikes.strike(one, 1 + MINUTE)).toBe(2 * MINUTE)
  })

  it('are removed after an hour without a strike or a suspension', () => {
    const strikes = createNonceStrikes(10)
    strikes.strike(one, 0)
    expect(strikes.strike(one, HOUR)).toBeUndefined()
    expect(strikes.strike(one, HOUR + 1)).toBe(MINUTE)
    expect(strikes.strike(one, HOUR + 1 + MINUTE + HOUR)).toBeUndefined()
  })

  it('are kept for a bounded number of solvers', () => {
    const strikes = createNonceStrikes(2)
    for (const solver of [one, other, third]) strikes.strike(solver, 0)
    expect([third, other].map((solver) => strikes.strike(solver, 1))).toEqual([MINUTE, MINUTE])
    expect(strikes.strike(one, 1)).toBeUndefined()
  })
})
