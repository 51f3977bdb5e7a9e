import { beforeEach, describe, expect, test } from 'vitest'
import type { OpenPeriod } from '../../../src/solvers/conduct/circuit-breaker.js'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import {
  answering,
  createHealth,
  newClient,
  playRound,
  playRounds,
  type ResultKind,
  type RoundsOptions,
  roundAt,
  SOFT_TIMEOUT_MS,
} from './rounds.js'

const SECOND = 1000

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

describe('time losses', () => {
  test('open the breaker for 5 s when there are three in a row, of three clients', () => {
    play(0, 'late', { times: 2 })
    expect(status(4000)).not.toBe('open')
    const at = play(4000, 'late')
    expect(status(at)).toBe('open')
    expect(openPeriods).toEqual([{ level: 1, until: at + 5000 }])
  })

  test('open the breaker also with an error in between, which does not count', () => {
    play(play(play(0, 'late', { times: 2 }), 'failed'), 'late')
    expect(health.isOpen).toBe(true)
  })

  test('open the breaker when the soft deadline of the instance cut the solver off', () => {
    play(0, 'soft_deadline', { times: 2, tookMs: SOFT_TIMEOUT_MS })
    expect(health.isOpen).toBe(false)
    play(4000, 'soft_deadline', { tookMs: SOFT_TIMEOUT_MS })
    expect(health.isOpen).toBe(true)
  })

  test('are not made up for by offers to callers that wait beyond the soft deadline', () => {
    const beyond = { tookMs: SOFT_TIMEOUT_MS + 1 }
    let at = play(0, 'soft_deadline', { times: 2, tookMs: SOFT_TIMEOUT_MS })
    at = play(at, 'quoted', { times: 9, ...beyond })
    at = play(at, 'soft_deadline', { tookMs: SOFT_TIMEOUT_MS })
    expect(status(at)).toBe('open')
    expect(openPeriods).toHaveLength(1)
    play(at, 'quoted', { times: 3, ...beyond })
    expect(health.isOpen).toBe(true)
    play(at, 'quoted', { tookMs: SOFT_TIMEOUT_MS })
    expect(health.isOpen).toBe(false)
  })

  test('are made up for by an offer beyond the soft deadline that is the only one', () => {
    let at = play(0, 'soft_deadline', { times: 3, tookMs: SOFT_TIMEOUT_MS })
    at = playRound(at, [{ health, result: 'quoted', tookMs: SOFT_TIMEOUT_MS + 1 }])
    expect(health.isOpen).toBe(false)
  })

  test('of one client count once in 10 s', () => {
    const client = () => 'the only one'
    play(play(0, 'quoted'), 'late', { times: 5, client })
    expect(health.isOpen).toBe(false)
    let at = 100 * SECOND
    for (let time = 0; time < 2; time++) at = play(at, 'late', { client }) + 8 * SECOND
    expect(health.isOpen).toBe(true)
  })

  test('of one client count once in 10 s, also when the solver quoted in between', () => {
    const client = () => 'the only one'
    let at = play(0, 'late', { client })
    at = play(at, 'quoted', { client })
    play(at, 'late', { client })
    expect(health.validShare).toBeCloseTo((7 / 8) ** 2 + 1 / 8)
  })
})

describe('the count of time losses', () => {
  /** @returns the number of requests that open the breaker, if it is at most this many */
  function untilOpen(pattern: readonly ResultKind[], most = 300, client = newClient) {
    let at = play(0, 'quoted')
    for (let request = 0; request < most; request++) {
      const result = pattern[request % pattern.length]
      if (result !== undefined) at = play(at, result, { client })
      if (health.isOpen) return request + 1
    }
    return undefined
  }

  test.each(['quoted', 'declined'] as const)('goes down by a half with each %s', (result) => {
    expect(untilOpen(['late', 'late', result])).toBe(5)
  })

  test('opens the breaker of a solver that fails every other time', () => {
    expect(untilOpen(['late', 'quoted'])).toBe(9)
  })

  test('never opens the breaker of a solver that fails once in three times', () => {
    expect(untilOpen(['late', 'quoted', 'quoted'])).toBeUndefined()
  })

  test('is never below 0', () => {
    play(0, 'quoted', { times: 100 })
    expect(untilOpen(['late'])).toBe(3)
  })

  test('goes down by at most 1 in 10 s by the requests of one client', () => {
    const client = () => 'the only one'
    let at = play(play(0, 'quoted'), 'late', { times: 2 })
    at = play(at, 'quoted', { times: 50, client })
    at = play(at, 'late')
    expect(health.isOpen).toBe(false)
    play(at, 'late')
    expect(health.isOpen).toBe(true)
  })

  test('goes up by 1 in 10 s by the failures of one client, also after its successes', () => {
    const client = () => 'the only one'
    let at = play(play(0, 'quoted', { times: 4, client }), 'late', { times: 2, client })
    at = play(at, 'late')
    expect(health.isOpen).toBe(false)
    play(at, 'late')
    expect(health.isOpen).toBe(true)
  })

  test('does not go up by rare failures for a busy client', () => {
    const client = () => 'the only one'
    const pattern: ResultKind[] = [...Array<ResultKind>(24).fill('quoted'), 'late']
    expect(untilOpen(pattern, 5000, client)).toBeUndefined()
  })

  test('goes up by a single client of a solver that hangs two times out of three', () => {
    const client = () => 'the only one'
    expect(untilOpen(['late', 'late', 'quoted'], 60, client)).toBeDefined()
  })
})

describe('a result without an offer', () => {
  test.each(['declined', 'failed'] as const)(
    'of kind %s does not open the breaker when it comes soon',
    (result) => {
      play(play(0, 'quoted'), result, { times: 20, tookMs: 100 })
      expect([health.isOpen, health.validShare]).toEqual([false, 1])
    },
  )

  test.each(['declined', 'failed'] as const)(
    'of kind %s opens the breaker when it comes more than 100 ms after the last other result',
    (result) => {
      play(play(0, 'quoted'), result, { times: 2, tookMs: 102 })
      expect(health.isOpen).toBe(false)
      play(1000, result, { tookMs: 102 })
      expect(health.isOpen).toBe(true)
    },
  )

  test('loses no time when another solver takes as long', () => {
    play(0, 'quoted')
    for (let time = 0; time < 5; time++) {
      const others = [answering(), { ...answering(), result: 'declined', tookMs: 600 } as const]
      playRound(SECOND, [{ health, result: 'declined', tookMs: 650 }, ...others], { client: newClient() })
    }
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
  })

  test('loses no time when the time of the others is unknown', () => {
    play(0, 'quoted')
    for (let time = 0; time < 5; time++) {
      const cutOff = { ...answering(), result: 'cancelled', tookMs: 700 } as const
      playRound(SECOND, [{ health, result: 'declined', tookMs: 650 }, answering(), cutOff], {
        client: newClient(),
        limitMs: 700,
      })
    }
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
  })

  test('loses no time when the offers of the solver usually take that long', () => {
    play(play(0, 'quoted', { tookMs: 300 }), 'declined', { times: 20, tookMs: 500 })
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
    play(SECOND, 'declined', { times: 3, tookMs: 700 })
    expect(health.isOpen).toBe(true)
  })

  test('does not count when no solver has a valid offer, also a timeout', () => {
    play(0, 'quoted')
    for (let time = 0; time < 10; time++) {
      const others = [{ ...answering(), result: 'declined' } as const]
      playRound(SECOND, [{ health, result: 'late' }, ...others], { client: newClient() })
    }
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
  })

  test('does not count when a deadline or a queue of the service has ended it', () => {
    play(play(0, 'quoted'), 'cancelled', { times: 20, tookMs: 1999 })
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
  })
})
