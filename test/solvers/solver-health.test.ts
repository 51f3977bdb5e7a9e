import { beforeEach, describe, expect, test } from 'vitest'
import type { OpenPeriod } from '../../src/solvers/circuit-breaker.js'
import { QuoteRound, type RequestResult } from '../../src/solvers/quote-round.js'
import type { SolverHealth } from '../../src/solvers/solver-health.js'
import {
  answering,
  createHealth,
  openBreaker,
  openRequests,
  playRound,
  QUOTE_TIMEOUT_MS,
  roundAt,
} from './rounds.js'

const SECOND = 1000
const MINUTE = 60 * SECOND

let terms: (OpenPeriod | undefined)[]
let health: SolverHealth
let lastClient = 0

beforeEach(() => {
  terms = []
  health = createHealth(1, { onBreaker: (openPeriod) => terms.push(openPeriod) })
})

/** A new client. */
const newClient = () => `client ${++lastClient}`

/** Plays sequential rounds for different clients, in which another solver answers. @returns when the last one ended */
function play(
  now: number,
  result: RequestResult,
  { times = 1, tookMs = 1, client = newClient, pair = 'ab' } = {},
) {
  let at = now
  for (let time = 0; time < times; time++) {
    const ended = playRound(at, [{ health, result, ...(result === 'late' ? {} : { tookMs }) }, answering()], {
      client: client(),
      pair,
    })
    at = ended
  }
  return at
}

const status = (now: number, client = newClient()) => health.status(roundAt(now, { client }), now)

describe('time losses', () => {
  test('open the breaker for 5 s when there are three in a row, of three clients', () => {
    play(0, 'late', { times: 2 })
    expect(status(4000)).not.toBe('open')
    const at = play(4000, 'late')
    expect(status(at)).toBe('open')
    expect(terms).toEqual([{ level: 1, until: at + 5000 }])
  })

  test('open the breaker also with an error in between, which does not count', () => {
    play(play(play(0, 'late', { times: 2 }), 'failed'), 'late')
    expect(health.isOpen).toBe(true)
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
  function untilOpen(pattern: readonly RequestResult[], most = 300, client = newClient) {
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
    const pattern: RequestResult[] = [...Array<RequestResult>(24).fill('quoted'), 'late']
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

describe('a token pair', () => {
  test('that the solver has not quoted does not count, also with a timeout', () => {
    play(play(0, 'quoted', { pair: 'ab' }), 'late', { times: 10, pair: 'cd' })
    expect([health.isOpen, health.validShare]).toEqual([false, 1])
  })

  test('in the other direction is another one', () => {
    play(0, 'quoted')
    const other = { inputToken: '0xab2', outputToken: '0xab1' } as const
    const round = new QuoteRound({ request: other, startedAt: 0, limitMs: 1, clientKey: () => 'a' })
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

describe('an open breaker', () => {
  test.each(['quoted', 'declined'] as const)('closes with the first answer in time: %s', (result) => {
    const at = openBreaker(health, 0)
    play(at, result)
    expect(health.isOpen).toBe(false)
    expect(terms.at(-1)).toBeUndefined()
    expect(terms).toHaveLength(2)
  })

  test('stays open with an error, and its open period does not grow', () => {
    const at = openBreaker(health, 0)
    play(at, 'failed', { times: 20 })
    expect(terms).toEqual([{ level: 1, until: at + 5000 }])
    expect(health.isOpen).toBe(true)
  })

  test('has open periods that double from 5 s to 5 minutes, each after a single time loss', () => {
    let at = openBreaker(health, 0)
    const lengths: number[] = []
    for (let trial = 0; trial < 9; trial++) {
      const until = terms.at(-1)?.until ?? Number.NaN
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
    expect(terms).toHaveLength(1)
    health.recordUnanswered(trial, 'time_lost', QUOTE_TIMEOUT_MS, until + 2)
    expect(terms.at(-1)).toMatchObject({ level: 2 })
  })

  test('opens for longer only when it closed less than 5 minutes before', () => {
    let at = openBreaker(health, 0)
    at = play(at, 'quoted')
    at = openBreaker(health, at)
    expect(terms.at(-1)).toMatchObject({ level: 2 })
    at = play(at, 'quoted')
    openBreaker(health, at + 5 * MINUTE + 1)
    expect(terms.at(-1)).toMatchObject({ level: 1 })
  })

  test('opens again for the next open period by two time losses after it has closed', () => {
    let at = play(openBreaker(health, 0), 'quoted')
    at = play(at, 'late')
    expect(health.isOpen).toBe(false)
    at = play(at, 'late')
    expect(terms.at(-1)).toEqual({ level: 2, until: at + 10 * SECOND })
  })

  test.each([
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ])('in open period %i in close succession closes by an offer before its end: %s', (level, isClosed) => {
    health = createHealth(1, {
      openPeriod: { level, until: 20 * SECOND },
      onBreaker: (openPeriod) => terms.push(openPeriod),
    })
    play(5 * SECOND, 'quoted')
    expect(health.isOpen).toBe(!isClosed)
    play(20 * SECOND, 'quoted')
    expect(health.isOpen).toBe(false)
  })

  test('closes only by its trial from the third open period on', () => {
    health = createHealth(1, {
      openPeriod: { level: 3, until: 1000 },
      onBreaker: (openPeriod) => terms.push(openPeriod),
    })
    const trial = { round: roundAt(1000, { client: 'trial' }), waitingSince: 1000 }
    health.begin(trial, 1000)
    play(1001, 'quoted')
    expect(health.isOpen).toBe(true)
    health.recordQuote(trial, 100, 1100)
    expect(health.isOpen).toBe(false)
  })

  test('lets a quote wait after an offer before the end of a later open period, once in 5 minutes', () => {
    const start = 20 * SECOND
    health = createHealth(1, {
      openPeriod: { level: 3, until: start + MINUTE },
      onBreaker: (openPeriod) => terms.push(openPeriod),
    })
    expect(status(start)).toBe('open')
    const answered = play(start, 'quoted')
    expect(status(answered)).toBe('degraded')
    const failed = play(answered, 'late')
    expect(terms).toEqual([{ level: 4, until: failed + 40 * SECOND }])
    expect(status(play(failed, 'quoted'))).toBe('open')
  })

  test('closes when the quote that waits before the end of a later open period gets an offer', () => {
    health = createHealth(1, {
      openPeriod: { level: 3, until: MINUTE },
      onBreaker: (openPeriod) => terms.push(openPeriod),
    })
    play(play(0, 'quoted'), 'quoted')
    expect(terms).toEqual([undefined])
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
    health = createHealth(1, {
      openPeriod: { level: 3, until: 4000 },
      onBreaker: (openPeriod) => terms.push(openPeriod),
    })
    expect(status(3999)).toBe('open')
    expect(status(4000)).toBe('degraded')
    const at = play(4000, 'late')
    expect(terms).toEqual([{ level: 4, until: at + 40_000 }])
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
    const standingAfter = (pattern: readonly RequestResult[]) => {
      health = createHealth()
      play(0, 'quoted')
      for (let round = 0; round < 20; round++) for (const result of pattern) play(0, result)
      return status(QUOTE_TIMEOUT_MS)
    }
    expect(standingAfter(['quoted'])).toBe('healthy')
    expect(standingAfter(['late', ...Array<RequestResult>(19).fill('quoted')])).toBe('healthy')
    expect(standingAfter(['late', 'quoted', 'quoted'])).toBe('degraded')
    expect(standingAfter(['failed', 'failed', 'failed'])).toBe('healthy')
    expect(standingAfter(['declined', 'declined', 'quoted'])).toBe('healthy')
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

describe('in a round', () => {
  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [10, 5],
    [50, 25],
  ])('with %i solvers, half of the other solvers are %i', (size, enough) => {
    const round = roundAt(0)
    round.begin(size)
    for (let answer = 1; answer < enough; answer++) round.recordQuote(1, answer)
    expect(round.answeredAt).toBeUndefined()
    round.recordQuote(1, 100)
    round.recordQuote(1, 200)
    expect(round.answeredAt).toBe(100)
  })
})
