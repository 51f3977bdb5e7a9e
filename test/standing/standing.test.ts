import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { CircuitBreaker } from '../../src/standing/circuit-breaker.js'
import { type Lesson, Lessons } from '../../src/standing/lessons.js'
import {
  dropOf,
  eligibility,
  isExpected,
  type OpenRequest,
  recordEnd,
  recordRequest,
  Standing,
  Standings,
  type Wait,
  waitFor,
  waitsUntilMs,
} from '../../src/standing/standing.js'
import { solver } from '../solvers/sample-solver.js'

const OFFER: Lesson = {
  outcome: 'offer',
  isInTime: true,
  isQuick: true,
  gap: 0,
  gain: 0,
  wasWaitedFor: false,
}

/** The lessons of an offer with changes, some times. */
function learnt(changes: Partial<Lesson>, times = 1): Lessons {
  const lessons = new Lessons()
  for (let time = 0; time < times; time++) lessons.learn({ ...OFFER, ...changes }, 0, 0)
  return lessons
}

let standing: Standing

beforeEach(() => {
  standing = new Standing()
})

/** A request in a round in which another solver made an offer at this time. */
function requestAt(now: number, offeredAt: number | undefined = now + 1): OpenRequest {
  return { isExpected: true, waitingSince: now, round: { offeredAt } }
}

function ask(request: OpenRequest, wait: Wait = 'none'): OpenRequest {
  recordRequest(standing, request, wait, request.waitingSince ?? 0)
  return request
}

/** Answers that took these times. */
function answer(...times: number[]): void {
  for (const ms of times) {
    const request = ask(requestAt(0))
    recordEnd(standing, request, { answeredInMs: ms, isOffer: true }, ms)
  }
}

const able = (now: number) => eligibility(standing, undefined, now)

test('a standing says whether the last request reached the solver, and not what a late answer was', () => {
  const end = (answeredInMs: number | undefined, isFailed: boolean) => {
    recordEnd(standing, ask(requestAt(0)), { answeredInMs, isOffer: false, isFailed }, 1)
    return standing.isUnreachable
  }
  expect([end(undefined, true), end(undefined, false), end(5, false)]).toEqual([true, true, false])
})

describe('a round waits for a solver', () => {
  const slow = () => learnt({ isQuick: false })
  const quick = () => learnt({})
  const worthWaiting = () => learnt({ isQuick: false, gain: 1 }, 2)
  const barred = () => learnt({ isQuick: false, wasWaitedFor: true }, 20)
  const owedWait = () => {
    const lessons = slow()
    lessons.hear({ ...OFFER, isInTime: false, gain: 50 }, 50, 0)
    return lessons
  }

  test.each([
    ['of which nothing is known', [], 'soft_deadline', 'soft_deadline'],
    ['that is quick', [quick], 'soft_deadline', 'soft_deadline'],
    ['that is slow', [slow], 'none', 'none'],
    ['that has made no offer', [() => new Lessons()], 'none', 'none'],
    ['that was worth it', [worthWaiting], 'beyond', 'beyond'],
    ['that is owed a wait', [owedWait], 'none', 'beyond'],
    ['that is quick by one of two scorecards', [slow, quick], 'soft_deadline', 'soft_deadline'],
    ['that was worth it by one of two', [slow, worthWaiting], 'beyond', 'beyond'],
    ['that was worth it by one, and is barred by the other', [barred, worthWaiting], 'none', 'none'],
    ['that is owed a wait by one, and is barred by the other', [barred, owedWait], 'none', 'beyond'],
    ['that is owed a wait by one of two', [owedWait, quick], 'soft_deadline', 'beyond'],
  ] as const)('%s', (_what, scorecards, usually, whenWorse) => {
    const known = scorecards.map((lessons) => lessons())
    expect([false, true].map((isWorse) => waitFor(known, isWorse))).toEqual([usually, whenWorse])
  })
})

test.each<[Wait[], number]>([
  [[], 0],
  [['none', 'never'], 0],
  [['none', 'soft_deadline'], 500],
  [['soft_deadline', 'beyond', 'none'], 1250],
])('a round that waits for solvers by %j ends %i ms after its request', (waits, untilMs) => {
  expect(waitsUntilMs(waits, 500)).toBe(untilMs)
})

describe('a solver is expected to quote', () => {
  test('every pair before its first offer, and then what it has quoted', () => {
    expect(isExpected(standing, undefined, 0)).toBe(true)
    answer(1)
    const lessons = new Lessons()
    expect([isExpected(standing, undefined, 0), isExpected(standing, lessons, 0)]).toEqual([false, false])
    lessons.hear(OFFER, 0, 0)
    expect(isExpected(standing, lessons, 0)).toBe(true)
  })
})

describe('a round does not ask a solver', () => {
  test('whose circuit breaker is open, and probes it when its open period is over', () => {
    standing.breaker = new CircuitBreaker()
    for (const client of 'abcdefghi') standing.breaker.recordLoss(client, 0)
    expect([able(0), able(5000)]).toEqual(['circuit_open', 'probe'])
    ask(requestAt(5000), 'never')
    expect(able(5000)).toBe('circuit_open')
    standing.breaker.recordAnswer('a', 5001)
    expect(able(5001)).toBe('able')
  })

  test('that keeps three requests waiting, until it answers one', () => {
    const requests = [0, 10, 20].map((now) => ask(requestAt(now)))
    expect([able(51), able(52)]).toEqual(['able', 'not_answering'])
    recordEnd(standing, requests[1] as OpenRequest, { answeredInMs: 50, isOffer: false }, 60)
    expect(able(60)).toBe('able')
  })

  test('that keeps three waiting for more than twice its longest answer in 10 minutes', () => {
    const wave = (now: number) => {
      const requests = [0, 0, 0].map(() => ask(requestAt(now)))
      const seen = [able(now + 401), able(now + 402)]
      for (const request of requests)
        recordEnd(standing, request, { answeredInMs: 20, isOffer: false }, now + 402)
      return seen
    }
    answer(200, ...Array(20).fill(20))
    expect(wave(1000)).toEqual(['able', 'not_answering'])
    // Now it has declined late, but in time.
    recordEnd(standing, ask(requestAt(2000)), { answeredInMs: 1900, isOffer: false }, 4000)
    expect([wave(10_000), wave(600_000)]).toEqual(Array(2).fill(['able', 'able']))
    recordEnd(standing, ask(requestAt(700_000)), { answeredInMs: 200, isOffer: true }, 700_200)
    expect(wave(701_000)).toEqual(['able', 'not_answering'])
  })

  test.each([
    ['usually takes that long', () => answer(200), () => [200, 210, 220].map((now) => requestAt(now))],
    [
      'has taken that long, though it usually answers at once',
      () => {
        answer(200)
        for (let time = 0; time < 9; time++)
          recordEnd(standing, ask(requestAt(0)), { answeredInMs: 1, isOffer: false }, 200)
      },
      () => [200, 210, 220].map((now) => requestAt(now)),
    ],
    [
      'has got before its last answer, but for one',
      () => {
        for (const now of [0, 1]) ask(requestAt(now))
        recordEnd(standing, ask(requestAt(10)), { answeredInMs: 90, isOffer: false }, 100)
      },
      () => [requestAt(110)],
    ],
    [
      'is not expected to quote',
      () => {},
      () => [0, 1, 2].map((now) => ({ ...requestAt(now), isExpected: false })),
    ],
    [
      'has not got them',
      () => {},
      () => [0, 1, 2].map((now) => ({ ...requestAt(now), waitingSince: undefined })),
    ],
    [
      'was asked when no other one made an offer',
      () => {},
      () => [0, 1, 2].map((now): OpenRequest => ({ ...requestAt(now), round: { offeredAt: undefined } })),
    ],
  ])('but does when it keeps three waiting that it %s', (_what, before, requests) => {
    before()
    for (const request of requests()) ask(request)
    expect(able(300)).toBe('able')
  })
})

test.each([
  [0.9997, 1, 0],
  [0.99, 1, 100],
  [1.5, 1, 0],
  [0.5, 0, 0],
])('the rate %d is worse than the usual one of %d by %d basis points', (rate, usual, drop) => {
  expect(dropOf(rate, usual)).toBeCloseTo(drop)
})

test('of more standings than are kept, the one goes that was asked longest ago, and a look keeps none', () => {
  const standings = new Standings(() => 0, pino({ level: 'silent' }))
  const keyOf = (number: number) => ({ chainId: 1, address: solver(number).address })
  const known = standings.of(keyOf(0))
  for (let number = 1; number <= 2048; number++) expect(standings.find(keyOf(number))).toBeUndefined()
  expect(standings.find(keyOf(0))).toBe(known)
  for (let number = 1; number <= 2047; number++) standings.of(keyOf(number))
  expect(standings.of(keyOf(0))).toBe(known)
  standings.find(keyOf(1))
  standings.of(keyOf(2048))
  expect([0, 1].map((number) => standings.find(keyOf(number)))).toEqual([known, undefined])
})
