import { beforeEach, describe, expect, test } from 'vitest'
import type { OpenPeriod } from '../../../src/solvers/conduct/circuit-breaker.js'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import {
  createHealth,
  newClient,
  openBreaker,
  playRounds,
  QUOTE_TIMEOUT_MS,
  type ResultKind,
  type RoundsOptions,
  roundAt,
} from './rounds.js'

const SECOND = 1000
const MINUTE = 60_000

let health: SolverHealth
let openPeriods: (OpenPeriod | undefined)[]
const onBreaker = (openPeriod: OpenPeriod | undefined) => void openPeriods.push(openPeriod)

beforeEach(() => {
  openPeriods = []
  health = createHealth(1, { onBreaker })
})

const play = (now: number, result: ResultKind, options?: RoundsOptions) =>
  playRounds(health, now, result, options)
const status = (now: number, client = newClient()) => health.status(roundAt(now, { client }), now)

describe('an open breaker', () => {
  test.each(['quoted', 'declined'] as const)('closes with the first answer in time: %s', (result) => {
    const at = openBreaker(health, 0)
    play(at, result)
    expect(health.isOpen).toBe(false)
    expect(openPeriods.at(-1)).toBeUndefined()
    expect(openPeriods).toHaveLength(2)
  })

  test('stays open with an error, and its open period does not grow', () => {
    const at = openBreaker(health, 0)
    play(at, 'failed', { times: 20 })
    expect(openPeriods).toEqual([{ level: 1, until: at + 5000 }])
    expect(health.isOpen).toBe(true)
  })

  test('has open periods that double from 5 s to 5 minutes, each after a single time loss', () => {
    let at = openBreaker(health, 0)
    const lengths: number[] = []
    for (let trial = 0; trial < 9; trial++) {
      const until = openPeriods.at(-1)?.until ?? Number.NaN
      lengths.push(until - at)
      expect(status(until - 1)).toBe('open')
      expect(status(until)).toBe('degraded')
      at = play(until, 'late')
    }
    expect(lengths).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * SECOND))
  })

  test('lets one quote at a time wait after its open period, and the next one when that does not count', () => {
    const until = openBreaker(health, 0) + 5000
    const request = { round: roundAt(until), waitingSince: until }
    health.begin(request, until)
    expect(status(until + 1)).toBe('open')
    health.end(request, until + 100, false)
    health.recordUnanswered(request, 'none', 100, until + 100)
    expect(status(until + 101)).toBe('degraded')
  })

  test('lets no quote wait whose time loss would not count', () => {
    const at = play(0, 'quoted')
    const until = openBreaker(health, at) + 5000
    expect(status(until, 'new')).toBe('degraded')
    expect(health.status(roundAt(until, { client: 'new', pair: 'cd' }), until)).toBe('open')
    expect(status(until, `z at ${at}`)).toBe('open')
  })

  test('is not closed or prolonged by a request from before its open period', () => {
    const early = { round: roundAt(0), waitingSince: 0 }
    health.begin(early, 0)
    const until = openBreaker(health, 0) + 5000
    const trial = { round: roundAt(until, { client: 'trial' }), waitingSince: until }
    health.begin(trial, until)
    health.recordUnanswered(early, 'time_lost', QUOTE_TIMEOUT_MS, until + 1)
    expect(openPeriods).toHaveLength(1)
    health.recordUnanswered(trial, 'time_lost', QUOTE_TIMEOUT_MS, until + 2)
    expect(openPeriods.at(-1)).toMatchObject({ level: 2 })
  })

  test('opens for longer only when it closed less than 5 minutes before', () => {
    let at = openBreaker(health, 0)
    at = play(at, 'quoted')
    at = openBreaker(health, at)
    expect(openPeriods.at(-1)).toMatchObject({ level: 2 })
    at = play(at, 'quoted')
    openBreaker(health, at + 5 * MINUTE + 1)
    expect(openPeriods.at(-1)).toMatchObject({ level: 1 })
  })

  test('opens again for the next open period by two time losses after it has closed', () => {
    let at = play(openBreaker(health, 0), 'quoted')
    at = play(at, 'late')
    expect(health.isOpen).toBe(false)
    at = play(at, 'late')
    expect(openPeriods.at(-1)).toEqual({ level: 2, until: at + 10 * SECOND })
  })

  test.each([
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ])('in open period %i in close succession closes by an offer before its end: %s', (level, isClosed) => {
    health = createHealth(1, { openPeriod: { level, until: 20 * SECOND }, onBreaker })
    play(5 * SECOND, 'quoted')
    expect(health.isOpen).toBe(!isClosed)
    play(20 * SECOND, 'quoted')
    expect(health.isOpen).toBe(false)
  })

  test('closes only by its trial from the third open period on', () => {
    health = createHealth(1, { openPeriod: { level: 3, until: 1000 }, onBreaker })
    const trial = { round: roundAt(1000, { client: 'trial' }), waitingSince: 1000 }
    health.begin(trial, 1000)
    play(1001, 'quoted')
    expect(health.isOpen).toBe(true)
    health.recordQuote(trial, 100, 1100)
    expect(health.isOpen).toBe(false)
  })

  test('lets a quote wait after an offer before the end of a later open period, once in 5 minutes', () => {
    const start = 20 * SECOND
    health = createHealth(1, { openPeriod: { level: 3, until: start + MINUTE }, onBreaker })
    expect(status(start)).toBe('open')
    const answered = play(start, 'quoted')
    expect(status(answered)).toBe('degraded')
    const failed = play(answered, 'late')
    expect(openPeriods).toEqual([{ level: 4, until: failed + 40 * SECOND }])
    expect(status(play(failed, 'quoted'))).toBe('open')
  })

  test('closes when the quote that waits before the end of a later open period gets an offer', () => {
    health = createHealth(1, { openPeriod: { level: 3, until: MINUTE }, onBreaker })
    play(play(0, 'quoted'), 'quoted')
    expect(openPeriods).toEqual([undefined])
  })

  test('passes its open period on to another endpoint, and its level for 5 minutes after it has closed', () => {
    expect(health.openPeriodElsewhere(0)).toBeUndefined()
    let at = openBreaker(health, 0)
    expect(health.openPeriodElsewhere(at)).toEqual({ level: 1, until: at + 5000 })
    at = play(at, 'quoted')
    expect(health.openPeriodElsewhere(at + 5 * MINUTE - 1)).toEqual({ level: 1, until: at + 5 * MINUTE - 1 })
    expect(health.openPeriodElsewhere(at + 5 * MINUTE + 1)).toBeUndefined()
  })

  test('continues after a restart, and a single time loss after its open period begins the next one', () => {
    health = createHealth(1, { openPeriod: { level: 3, until: 4000 }, onBreaker })
    expect(status(3999)).toBe('open')
    expect(status(4000)).toBe('degraded')
    const at = play(4000, 'late')
    expect(openPeriods).toEqual([{ level: 4, until: at + 40_000 }])
  })
})

describe('probes of an open breaker', () => {
  const isDue = (now: number, pair = 'ab') =>
    health.isProbeDue(roundAt(now, { client: newClient(), pair }), now)
  const probe = (now: number, pair = 'ab') => {
    const request = { round: roundAt(now, { client: newClient(), pair }), waitingSince: now }
    health.begin(request, now)
    return request
  }

  test('are due every 5 s, from the beginning of its open period on', () => {
    const at = openBreaker(health, 0)
    expect([isDue(at), isDue(at + 4999), isDue(at + 5000)]).toEqual([false, false, true])
    probe(at + 5000)
    expect([isDue(at + 9999), isDue(at + 10_000)]).toEqual([false, true])
  })

  test('with a pair that it does not quote take none from the others', () => {
    const at = openBreaker(health, play(0, 'quoted')) + 5000
    expect(isDue(at, 'cd')).toBe(true)
    probe(at, 'cd')
    expect([isDue(at, 'cd'), isDue(at, 'ab')]).toEqual([false, true])
  })

  test('that end at once without an offer take none from the others', () => {
    const at = openBreaker(health, play(0, 'quoted')) + 5000
    const request = probe(at)
    expect(isDue(at + 1)).toBe(false)
    health.end(request, at + 10, true)
    health.recordUnanswered(request, 'none', 10, at + 10)
    expect([isDue(at + 11), health.isOpen]).toEqual([true, true])
  })
})
