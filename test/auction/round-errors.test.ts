import { expect, it } from 'vitest'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import { countResults } from '../../src/auction/attempt.js'
import { createRoundErrors } from '../../src/auction/round-errors.js'
import { solver } from '../solvers/sample-solver.js'
import { contextOf } from './context.js'

const DECLINED: SolverResult = { kind: 'declined', status: 404 }
const LATE: SolverResult = { kind: 'late' }
const FAILED: SolverResult = { kind: 'failed', reason: 'connection_refused', message: '' }

function errorOf(results: readonly SolverResult[], notAsked: number, registered: number) {
  const directory = { registered: () => Array.from({ length: registered }, (_, index) => solver(index + 1)) }
  const errors = createRoundErrors(contextOf({ directory }))
  const attempts = results.map((result) => ({ result }))
  return errors.noOffer(1, 'q', countResults(results.length, attempts), notAsked)
}

it.each([
  [[], 0, 0, 'No solver is registered on this chain.'],
  [
    [],
    1,
    2,
    'No solver could be asked: 2 are registered on this chain, and none can be reached or asked at present.',
  ],
  [[DECLINED, DECLINED, DECLINED], 0, 3, 'No solver gave a valid quote in time: of 3 asked, 3 declined.'],
  [[LATE, LATE], 0, 2, 'No solver gave a valid quote in time: of 2 asked, 2 did not answer in time.'],
  [
    [DECLINED, LATE, FAILED],
    1,
    4,
    'No solver gave a valid quote in time: of 3 asked, 1 declined, 1 could not be reached, 1 did not answer in time; 1 more was not asked.',
  ],
])(
  'a round of %j with %s others of %s solvers says which it was',
  (results, notAsked, registered, message) => {
    expect(errorOf(results, notAsked, registered)).toMatchObject({
      reason: 'NO_QUOTES',
      message,
      quoteId: 'q',
    })
  },
)

it('the reasons have the counts', () => {
  const cutOff: SolverResult[] = [{ kind: 'soft_deadline' }, { kind: 'cancelled' }, { kind: 'circuit_open' }]
  expect(errorOf([DECLINED, LATE, FAILED, ...cutOff], 1, 4).reasons).toEqual({
    asked: 6,
    declined: 1,
    invalid: 0,
    failed: 1,
    late: 4,
    notAsked: 1,
  })
})
