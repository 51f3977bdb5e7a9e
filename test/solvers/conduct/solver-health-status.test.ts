import { beforeEach, describe, expect, test } from 'vitest'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import {
  createHealth,
  newClient,
  openRequests,
  playRounds,
  QUOTE_TIMEOUT_MS,
  type ResultKind,
  type RoundsOptions,
  roundAt,
} from './rounds.js'

let health: SolverHealth

beforeEach(() => {
  health = createHealth()
})

const play = (now: number, result: ResultKind, options?: RoundsOptions) =>
  playRounds(health, now, result, options)
const status = (now: number, client = newClient()) => health.status(roundAt(now, { client }), now)

describe('a stalled solver', () => {
  const STALL_MS = QUOTE_TIMEOUT_MS / 40
  const open = (...times: number[]) => openRequests(health, times)

  test('is one that leaves three requests open while others answer', () => {
    open(0, 10)
    expect(status(1000)).toBe('healthy')
    open(20)
    expect(status(1 + STALL_MS)).toBe('healthy')
    expect(status(2 + STALL_MS)).toBe('stalled')
  })

  test('is no longer stalled when anything comes', () => {
    const [, second] = open(0, 10, 20, 30, 40)
    expect(status(100)).toBe('stalled')
    if (second !== undefined) health.end(second, 101, true)
    expect(status(102)).toBe('healthy')
  })

  test('stays stalled although a request from before its last response is open', () => {
    open(0)
    play(10, 'quoted')
    open(1000, 1010, 1020)
    expect(status(1500)).toBe('stalled')
  })

  test('does not result from requests before its last response', () => {
    open(0, 1, 2, 3)
    play(10, 'quoted')
    open(1000, 1010)
    expect(status(1500)).toBe('healthy')
  })

  test('does not result from long requests within three times the usual time', () => {
    play(0, 'quoted', { tookMs: 400, times: 20 })
    open(10_000, 10_010, 10_020)
    expect(status(11_200)).toBe('healthy')
    expect(status(11_202)).toBe('stalled')
  })

  test('does not result when the others have not answered either', () => {
    for (const now of [0, 10, 20]) health.begin({ round: roundAt(now), waitingSince: now }, now)
    expect(status(1900)).toBe('healthy')
  })

  test('does not result from requests for a pair that it does not quote', () => {
    play(0, 'quoted', { pair: 'ab' })
    openRequests(health, [10, 20, 30, 40], { pair: 'cd' })
    expect(status(1900)).toBe('healthy')
    openRequests(health, [10, 20, 30, 40], { pair: 'ab' })
    expect(status(1900)).toBe('stalled')
  })

  test('does not result from requests that wait for a connection of the service', () => {
    for (const now of [0, 10, 20, 30]) {
      const round = roundAt(now)
      round.begin(3)
      health.begin({ round, waitingSince: undefined }, now)
      round.recordQuote(1, now + 1)
    }
    expect(status(1900)).toBe('healthy')
  })
})

describe('a degraded solver', () => {
  test('loses time more often than once for four offers', () => {
    const statusAfter = (pattern: readonly ResultKind[]) => {
      health = createHealth()
      play(0, 'quoted')
      for (let round = 0; round < 20; round++) for (const result of pattern) play(0, result)
      return status(QUOTE_TIMEOUT_MS)
    }
    expect(statusAfter(['quoted'])).toBe('healthy')
    expect(statusAfter(['late', ...Array<ResultKind>(19).fill('quoted')])).toBe('healthy')
    expect(statusAfter(['late', 'quoted', 'quoted'])).toBe('degraded')
    expect(statusAfter(['failed', 'failed', 'failed'])).toBe('healthy')
    expect(statusAfter(['declined', 'declined', 'quoted'])).toBe('healthy')
  })

  test('has offers that usually take more than half of the timeout', () => {
    play(0, 'quoted', { tookMs: 1000, times: 50 })
    expect(status(0)).toBe('healthy')
    play(0, 'quoted', { tookMs: 1200, times: 50 })
    expect(status(0)).toBe('degraded')
    expect(health.usualMs).toBeCloseTo(1200, -1)
  })

  test('does not result from slow declines next to other slow solvers, or from quick ones', () => {
    play(0, 'quoted', { tookMs: 10 })
    play(0, 'declined', { times: 50 })
    expect(health.usualMs).toBe(10)
  })

  test('is not a new solver', () => {
    expect(status(0)).toBe('healthy')
    expect(health.usualMs).toBeUndefined()
  })
})
