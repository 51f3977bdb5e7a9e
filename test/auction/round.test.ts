import { describe, expect, test } from 'vitest'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Asked } from '../../src/auction/solver-choice.js'
import { RequestSlots } from '../../src/solvers/transport/request-slots.js'
import type { Wait } from '../../src/standing/standing.js'
import { createManualClock } from '../support/manual-clock.js'
import { askedSolver, OWN_RULE, offerOf, playRound, SOFT_MS, TIMEOUT_MS } from './played-round.js'

const DECLINED: SolverResult = { kind: 'declined', status: 422 }
const INVALID: SolverResult = { kind: 'invalid', reason: 'malformed' }
/** The usual rate of a pair in which `offerOf(0)` is as good as usual. */
const AS_USUAL = 1000

const solvers = (...waits: Wait[]) => waits.map((wait, number) => askedSolver(number, wait))

describe('a round is answered', () => {
  test('when all have answered, with the results in the order of their arrival', async () => {
    const { round, answer, told, isRead, clock } = playRound({ asked: solvers('none', 'none', 'none') })
    for (const number of [2, 0, 1]) await answer(number, INVALID)
    expect(round.attempts.map(({ solver }) => Number(solver))).toEqual([2, 0, 1])
    expect([told()?.length, isRead(), clock.waiting]).toEqual([3, true, 0])
  })

  test.each<[wait: Wait, untilMs: number, waitWhenWorse: Wait, untilMsWhenWorse: number]>([
    ['never', 0, 'never', 0],
    ['none', 0, 'none', 0],
    ['none', 0, 'beyond', 1250],
    ['soft_deadline', 500, 'soft_deadline', 500],
    ['soft_deadline', 500, 'beyond', 1250],
    ['beyond', 1250, 'beyond', 1250],
  ])(
    'when it has waited for a solver by its wait "%s" (%i ms), or by "%s" (%i ms) when its best offer is worse than usual',
    async (wait, untilMs, waitWhenWorse, untilMsWhenWorse) => {
      const missing: Asked = { ...askedSolver(1, wait), waitWhenWorse }
      for (const [usualRate, ms] of [
        [AS_USUAL, untilMs],
        [AS_USUAL + 1, untilMsWhenWorse],
      ] as const) {
        const { answer, told, clock } = playRound({ asked: [askedSolver(0), missing], times: { usualRate } })
        await answer(0, offerOf(0))
        if (ms > 0) {
          await clock.advance(ms - 1)
          expect(told()).toBeUndefined()
          await clock.advance(1)
        }
        expect(told()).toEqual(['quoted', wait === 'never' ? 'circuit_open' : 'soft_deadline'])
      }
    },
  )

  test('without a probe that is missing, and with the offer of one that is there', async () => {
    const missing = playRound({ asked: solvers('beyond', 'never') })
    await missing.answer(0, DECLINED)
    expect(missing.told()).toEqual(['declined', 'circuit_open'])
    const there = playRound({ asked: solvers('soft_deadline', 'never') })
    await there.answer(1, offerOf(1))
    await there.answer(0, DECLINED)
    expect(there.told()).toEqual(['quoted', 'declined'])
  })

  test('as soon as nobody is missing whom it waits for', async () => {
    const { answer, told, clock } = playRound({ asked: solvers('soft_deadline', 'beyond', 'none') })
    await answer(0, offerOf(0))
    await clock.advance(900)
    expect(told()).toBeUndefined()
    await answer(1, DECLINED)
    expect(told()).toEqual(['quoted', 'declined', 'soft_deadline'])
  })

  test.each([
    ['without an offer', 1],
    ['with fewer offers than are wanted', 2],
  ])('at its time-out, %s', async (_what, minQuotes) => {
    const rule = { ...OWN_RULE, minQuotes }
    const { answer, told, clock } = playRound({
      asked: solvers('none', 'none'),
      times: { softDeadline: rule },
    })
    await answer(0, minQuotes === 2 ? offerOf(0) : DECLINED)
    await clock.advance(TIMEOUT_MS - 1)
    expect(told()).toBeUndefined()
    await clock.advance(1)
    expect(told()?.at(-1)).toBe('late')
  })

  test('at its time-out, and a pause of the process right after that changes no result', async () => {
    const clock = createManualClock()
    const onEnd = () => clock.standStill(1000)
    const asked = solvers('soft_deadline', 'soft_deadline')
    const { answer, round } = playRound({ asked, clock, onEnd })
    await answer(0, DECLINED)
    await clock.advance(TIMEOUT_MS)
    await clock.advance(0)
    expect(round.ended.map(({ settled }) => settled.result.kind)).toEqual(['declined', 'late'])
  })

  test('with the first offer after the soft deadline', async () => {
    const { answer, told, clock } = playRound({ asked: solvers('soft_deadline', 'soft_deadline') })
    await clock.advance(SOFT_MS + 100)
    await answer(0, offerOf(0))
    expect(told()).toEqual(['quoted', 'soft_deadline'])
  })

  test("at a caller's soft deadline, or with enough offers after it", async () => {
    const softDeadline = { afterMs: 100, minQuotes: 2, isOwn: false }
    const { answer, told, clock } = playRound({
      asked: solvers('beyond', 'none', 'none'),
      times: { softDeadline },
    })
    await answer(1, offerOf(1))
    await clock.advance(150)
    expect(told()).toBeUndefined()
    await answer(2, offerOf(2))
    expect(told()).toEqual(['quoted', 'quoted', 'cancelled'])
  })

  test('when all have answered, for a caller that waits for all', async () => {
    const { answer, told, clock } = playRound({
      asked: solvers('none', 'none'),
      times: { softDeadline: undefined },
    })
    await answer(0, offerOf(0))
    await clock.advance(TIMEOUT_MS - 1)
    expect(told()).toBeUndefined()
    await answer(1, offerOf(1))
    expect(told()).toEqual(['quoted', 'quoted'])
  })

  test('when its caller leaves, and cancels the requests', async () => {
    const caller = new AbortController()
    const { told, isRead, round, clock } = playRound({
      asked: solvers('none', 'none'),
      signal: caller.signal,
    })
    await clock.advance(0)
    caller.abort()
    await clock.advance(0)
    expect([told(), isRead(), round.hasLeft]).toEqual([['cancelled', 'cancelled'], true, true])
  })
})

describe('after its answer a round reads on', () => {
  test('until all have answered', async () => {
    const { answer, round, told, isRead, cutOff, clock } = playRound({ asked: solvers('none', 'none') })
    await answer(0, offerOf(0))
    await clock.advance(900)
    expect([isRead(), cutOff.length]).toEqual([false, 0])
    await answer(1, offerOf(1, 2000n))
    expect([isRead(), told(), clock.waiting]).toEqual([true, ['quoted', 'soft_deadline'], 0])
    expect(cutOff.map(({ result }) => result.kind)).toEqual(['soft_deadline'])
    expect(round.ended.map(({ settled, isInTime, atMs }) => [settled.result.kind, isInTime, atMs])).toEqual([
      ['quoted', true, 0],
      ['quoted', false, 900],
    ])
    const [first, second] = round.ended.map(({ attempt }) => attempt.asked.standing.longest.ms)
    expect([first, second]).toEqual([0, 900])
  })

  test.each([
    ['and a solver without an answer until then is late', {}, 'late'],
    ["unless the caller's own deadline was told to it", { limitMs: 1000 }, 'cancelled'],
    ['unless the round had waited for too long', { waitedMs: 201 }, 'cancelled'],
  ])('until QUOTE_TIMEOUT_MS, %s', async (_what, times, kind) => {
    const { answer, round, isRead, clock } = playRound({ asked: solvers('none', 'none'), times })
    await answer(0, offerOf(0))
    await clock.advance(TIMEOUT_MS - 1)
    expect(isRead()).toBe(false)
    await clock.advance(1)
    expect([isRead(), round.ended.at(-1)?.settled.result.kind]).toEqual([true, kind])
  })

  test('but gives the connection of a request to a round that would have to wait', async () => {
    const slots = new RequestSlots(1)
    const first = playRound({ asked: [askedSolver(0), askedSolver(1, 'none', slots)] })
    await first.answer(0, offerOf(0))
    expect([first.told(), slots.isFull]).toEqual([['quoted', 'soft_deadline'], false])
    const second = playRound({ asked: [askedSolver(1, 'soft_deadline', slots)] })
    await second.answer(1, offerOf(1))
    expect(second.told()).toEqual(['quoted'])
    expect(first.round.ended.map(({ settled }) => settled.result.kind)).toEqual(['quoted', 'cancelled'])
  })

  test('and ends a request that waits for a connection', async () => {
    const slots = new RequestSlots(1)
    slots.tryTake()
    const { answer, round, isRead } = playRound({ asked: [askedSolver(0), askedSolver(1, 'none', slots)] })
    await answer(0, offerOf(0))
    expect([isRead(), slots.waiting]).toEqual([true, 0])
    expect(round.attempts.at(-1)?.result).toEqual({ kind: 'cancelled', isQueued: true })
  })

  test('and drops the rest of a declined reply', async () => {
    const { answer, signals } = playRound({ asked: solvers('none', 'none') })
    await answer(0, DECLINED)
    expect(signals.get('0')?.aborted).toBe(false)
    await answer(1, INVALID)
    expect(signals.get('0')?.aborted).toBe(true)
  })
})

describe('the gain of an offer', () => {
  test('is what it is better than all before it that came before the answer, in basis points', async () => {
    const { answer, round, clock } = playRound({ asked: solvers('none', 'none', 'beyond', 'none') })
    await answer(0, offerOf(0, 10_000n))
    await clock.advance(600)
    await answer(1, offerOf(1, 9990n))
    await answer(2, offerOf(2, 10_020n))
    await answer(3, offerOf(3, 10_030n))
    expect(round.ended.map(({ gain }) => gain)).toEqual([0, -10, 20, 9.98])
  })
})

describe('a round has waited beyond the soft deadline for a solver', () => {
  test.each([
    ['that ended in time', 800, {}, true],
    ['that ended after its answer', 1900, {}, true],
    ['but not when its caller has another rule', 1900, { softDeadline: undefined }, false],
  ])('%s', async (_what, atMs, times, hasWaited) => {
    const { answer, round, clock } = playRound({ asked: solvers('none', 'beyond', 'none'), times })
    await answer(0, offerOf(0))
    await clock.advance(atMs)
    await answer(1, offerOf(1))
    expect(round.hasWaitedFor(askedSolver(1, 'beyond'), atMs)).toBe(hasWaited)
  })
})

describe('after a pause of the process', () => {
  test.each([
    // As on a busy machine: one turn of the event loop takes a fifth of a second.
    [200, 'late'],
    [300, 'cancelled'],
  ] as const)('over its end by %i ms, a request without an answer is %s', async (pausedMs, kind) => {
    const { told, clock } = playRound({ asked: solvers('none') })
    await clock.advance(TIMEOUT_MS - 100)
    clock.standStill(100 + pausedMs)
    await clock.advance(0)
    expect(told()).toEqual([kind])
  })

  test.each([
    [100, 'soft_deadline', 0],
    [400, 'quoted', SOFT_MS],
  ] as const)('over its end by %i ms, offers that are read then are %s', async (ms, kind, tookMs) => {
    const { answer, answerNow, clock, told, round } = playRound({
      asked: solvers('none', 'soft_deadline', 'soft_deadline'),
    })
    await answer(0, offerOf(0))
    clock.standStill(SOFT_MS + ms)
    setImmediate(() =>
      setImmediate(() => {
        for (const number of [1, 2]) answerNow(number, offerOf(number))
      }),
    )
    await clock.advance(0)
    expect(told()).toEqual(['quoted', kind, kind])
    if (tookMs > 0) expect(round.attempts[1]?.tookMs).toBe(tookMs)
  })

  test('a reply that is read before the timer does not end the round, and its time does not include the pause', async () => {
    const { answer, answerNow, clock, told, round } = playRound({
      asked: solvers('none', 'soft_deadline', 'soft_deadline'),
    })
    await answer(0, offerOf(0))
    clock.standStill(SOFT_MS + 400)
    answerNow(1, offerOf(1))
    setImmediate(() => setImmediate(() => answerNow(2, offerOf(2))))
    await clock.advance(0)
    expect(told()).toEqual(['quoted', 'quoted', 'quoted'])
    expect(round.attempts[1]?.tookMs).toBe(SOFT_MS)
  })
})
