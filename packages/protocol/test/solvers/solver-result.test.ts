import { expect, test } from 'vitest'
import { signed } from '../../../../test/auction/records/sample-round.js'
import { responseOf, type SolverResult, toSessionResult } from '../../src/solvers/solver-result.js'

test.each<[SolverResult, ReturnType<typeof responseOf>]>([
  [{ kind: 'quoted', offer: signed(1, 1n) }, 'offer'],
  [{ kind: 'declined', status: 204 }, 'decline'],
  [{ kind: 'declined', status: 302 }, 'decline'],
  [{ kind: 'declined', status: 422 }, 'decline'],
  [{ kind: 'declined', status: 500 }, 'error'],
  [{ kind: 'declined', status: 501 }, 'decline'],
  [{ kind: 'declined', status: 502 }, 'error'],
  [{ kind: 'declined', status: 503 }, 'decline'],
  [{ kind: 'declined', code: 'PAUSED' }, 'decline'],
  [{ kind: 'invalid', reason: 'malformed' }, 'error'],
  [{ kind: 'failed', reason: 'unreachable', message: '' }, 'error'],
  [{ kind: 'failed', reason: 'session_ended', message: '' }, 'error'],
  [{ kind: 'failed', reason: 'session_congested', message: '' }, undefined],
  [{ kind: 'late' }, undefined],
  [{ kind: 'soft_deadline' }, undefined],
  [{ kind: 'circuit_open' }, undefined],
  [{ kind: 'cancelled' }, undefined],
  [{ kind: 'cancelled', isQueued: true }, undefined],
])('the result of %# has the response that circuit breakers and metrics count', (result, response) => {
  expect(responseOf(result)).toBe(response)
})

test.each<[SolverResult, ReturnType<typeof toSessionResult>]>([
  [{ kind: 'quoted', offer: signed(1, 1n) }, { outcome: 'QUOTED' }],
  [{ kind: 'declined', code: 'AMOUNT_TOO_LARGE' }, { outcome: 'DECLINED' }],
  [
    { kind: 'invalid', reason: 'NonceAlreadyUsed', amounts: { inputAmount: '1' } },
    { outcome: 'INVALID', reason: 'NonceAlreadyUsed' },
  ],
  [
    { kind: 'failed', reason: 'session_ended', message: 'socket 10.0.0.1' },
    { outcome: 'FAILED', reason: 'session_ended' },
  ],
  [{ kind: 'late' }, { outcome: 'LATE' }],
  [{ kind: 'soft_deadline' }, { outcome: 'SOFT_DEADLINE' }],
  [{ kind: 'cancelled', isQueued: true }, { outcome: 'CANCELLED' }],
  [{ kind: 'circuit_open' }, { outcome: 'CIRCUIT_OPEN' }],
])('a session shows only outcome and reason of the result of %#', (result, shown) => {
  expect(toSessionResult(result)).toEqual(shown)
})

test('a session shows the rank of a valid offer only', () => {
  expect(toSessionResult({ kind: 'quoted', offer: signed(1, 1n) }, 2)).toEqual({
    outcome: 'QUOTED',
    rank: 2,
  })
  expect(toSessionResult({ kind: 'late' }, 2)).toEqual({ outcome: 'LATE' })
})

test('a session shows why its solver was asked', () => {
  const selection = { chosenBy: 'RANK', gapBps: 1.5, isWaitedFor: false } as const
  expect(toSessionResult({ kind: 'late' }, undefined, selection)).toEqual({ outcome: 'LATE', ...selection })
})
