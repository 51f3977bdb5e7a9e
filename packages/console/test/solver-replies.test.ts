import { create } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { SolverStatsSchema } from '../../../gen/aggregator/v1/solver_stats_pb.js'
import { whyNothingWon } from '../src/data/solvers/solver-replies.js'

const reasonOf = (counts: Record<string, bigint>) => whyNothingWon(create(SolverStatsSchema, counts))

it.each([
  ['that was not asked', {}, 'was not asked'],
  ['whose offers were worse', { asked: 5n, quoted: 3n, late: 2n }, 'better offers'],
  ['that declines', { asked: 5n, quoted: 1n, declined: 4n }, 'declined'],
  ['whose replies are not valid', { asked: 5n, invalid: 4n, failed: 1n }, 'not valid'],
  ['that is slow', { asked: 5n, quoted: 2n, late: 3n }, 'too late'],
  ['that is cut off', { asked: 5n, quoted: 2n, softDeadline: 3n }, 'cut off'],
  ['without others beside it', { asked: 5n, quoted: 5n, wonAlone: 5n }, 'against others'],
  ['that is not reached', { asked: 5n, quoted: 2n, failed: 3n }, 'did not reach'],
])('a solver %s gets the reason why it won nothing', (_, counts, reason) => {
  expect(reasonOf(counts)).toContain(reason)
})

it('a solver that has won gets no reason', () => {
  expect(reasonOf({ asked: 5n, late: 4n, won: 1n })).toBeUndefined()
})
