import { describe, expect, test } from 'vitest'
import { NO_ENDPOINT, type Solver } from '../../packages/protocol/src/solvers/solver.js'
import {
  CANCELLED,
  REPLICA_UNREACHABLE,
  type SolverResult,
} from '../../packages/protocol/src/solvers/solver-result.js'
import { Attempt, CUT_OFF, rankedOffers, sortByRank } from '../../src/auction/attempt.js'
import { RequestSlots } from '../../src/solvers/transport/request-slots.js'
import { solver } from '../solvers/sample-solver.js'
import { askedSolver, offerOf, playRound, TIMEOUT_MS } from './played-round.js'

const onSession: Solver = solver(1, { endpointUrl: NO_ENDPOINT, session: { id: 'a' } })
const CONGESTED: SolverResult = { kind: 'failed', reason: 'session_congested', message: '' }

describe('a request on a session', () => {
  test('is reported on the session that it was sent on', async () => {
    const { round, answer } = playRound({ asked: [{ ...askedSolver(1), solver: onSession }] })
    await answer(1, CONGESTED)
    expect(round.attempts.map((attempt) => attempt.onSession)).toEqual([onSession])
  })

  test('over HTTP has none', async () => {
    const { round, answer } = playRound({ asked: [askedSolver(1)] })
    await answer(1, offerOf(1))
    expect(round.attempts[0]?.onSession).toBeUndefined()
  })
})

describe('a request that waits for a connection', () => {
  test('begins when one is free, and its time begins then', async () => {
    const slots = new RequestSlots(1)
    slots.tryTake()
    const { round, answer, clock } = playRound({ asked: [askedSolver(1, 'none', slots)] })
    await clock.advance(300)
    slots.release(0, 300)
    await clock.advance(0)
    await clock.advance(20)
    await answer(1, offerOf(1))
    expect(round.attempts.map(({ result, tookMs }) => [result.kind, tookMs])).toEqual([['quoted', 20]])
    expect(slots.isFull).toBe(false)
  })

  test.each([300, TIMEOUT_MS])('for %i ms is not late at the time-out', async (waitedMs) => {
    const slots = new RequestSlots(1)
    slots.tryTake()
    const { round, clock } = playRound({ asked: [askedSolver(1, 'none', slots)] })
    await clock.advance(waitedMs)
    slots.release(0, waitedMs)
    await clock.advance(TIMEOUT_MS - waitedMs)
    expect(round.attempts[0]?.result).toEqual({ kind: 'cancelled', isQueued: true })
  })
})

/** A request of a round that waits for it. */
function attemptIn(slots: RequestSlots, number = 1): Attempt {
  const round = { offeredAt: undefined, pausedMs: 0 }
  return new Attempt(askedSolver(number, 'none', slots), number, String(number), round, () => 0)
}

test.each<[string, boolean, SolverResult]>([
  ['is not late when another one was sent meanwhile', true, { kind: 'cancelled', isQueued: true }],
  ['is late when no other one was sent either', false, { kind: 'late' }],
])('a request that has its slot and is not sent %s', async (_what, isOtherSent, result) => {
  const slots = new RequestSlots(2)
  const [attempt, other] = [attemptIn(slots), attemptIn(slots, 2)]
  for (const each of [attempt, other]) await each.takeSlot()
  if (isOtherSent) other.onSent()
  expect(attempt.settle({ kind: 'late' }).result).toEqual(result)
})

test.each<[string, SolverResult, SolverResult]>([
  ['that its caller has left is cancelled without it', CANCELLED, CANCELLED],
  ['that has given its slot away is cancelled without it', CUT_OFF, CUT_OFF],
  ['at the time-out has it', { kind: 'late' }, REPLICA_UNREACHABLE],
  ['at the soft deadline has it', { kind: 'soft_deadline' }, REPLICA_UNREACHABLE],
])('of the reason that its replica was not reached, a request %s', (_what, endedBy, result) => {
  const attempt = attemptIn(new RequestSlots(1))
  attempt.end(endedBy)
  expect(attempt.resultOf(REPLICA_UNREACHABLE)).toBe(result)
})

test('requests with an offer come by rank, and then the others in the order of their results', async () => {
  const { round, answer } = playRound({ asked: [0, 1, 2, 3].map((number) => askedSolver(number)) })
  await answer(0, CONGESTED)
  await answer(1, offerOf(1, 10n))
  await answer(2, offerOf(2, 30n))
  await answer(3, CONGESTED)
  const sorted = sortByRank(round.attempts, rankedOffers(round.attempts))
  expect(sorted.map((attempt) => Number(attempt.solver))).toEqual([2, 1, 0, 3])
})
