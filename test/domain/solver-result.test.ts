import { expect, test } from 'vitest'
import { responseOf, type SolverResult } from '../../src/domain/solver-result.js'
import { signed } from '../quoting/sample-trace.js'

test.each<[SolverResult, ReturnType<typeof responseOf>]>([
  [{ kind: 'quoted', offer: signed(1, 1n) }, 'offer'],
  [{ kind: 'declined', status: 204 }, 'decline'],
  [{ kind: 'declined', status: 302 }, 'decline'],
  [{ kind: 'declined', status: 422 }, 'decline'],
  [{ kind: 'declined', status: 500 }, 'error'],
  [{ kind: 'declined', status: 501 }, 'decline'],
  [{ kind: 'declined', status: 502 }, 'error'],
  [{ kind: 'declined', status: 503 }, 'decline'],
  [{ kind: 'invalid', reason: 'malformed' }, 'error'],
  [{ kind: 'failed', reason: 'unreachable', message: '' }, 'error'],
  [{ kind: 'late' }, undefined],
  [{ kind: 'cancelled' }, undefined],
  [{ kind: 'cancelled', isQueued: true }, undefined],
])('the result of %# has the response that circuit breakers and metrics count', (result, response) => {
  expect(responseOf(result)).toBe(response)
})
