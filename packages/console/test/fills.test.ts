import { create } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { SolverStatsSchema } from '../../../gen/aggregator/v1/solver_stats_pb.js'
import { createFillCounts, withFills } from '../src/data/solvers/solver-fills.js'

const SOLVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

it('fills that came since the statistics were read count for their solver', () => {
  const stats = [
    create(SolverStatsSchema, { solver: SOLVER, settled: 1n, refunded: 1n, fillRate: 0.5 }),
    create(SolverStatsSchema, { solver: OTHER }),
  ]
  const fills = createFillCounts()
  for (const solver of [SOLVER.toLowerCase(), SOLVER, undefined]) fills.add(solver)
  const [first, second] = withFills(stats, fills)
  expect(first).toMatchObject({ settled: 3n, refunded: 1n, fillRate: 0.75 })
  expect(second).toBe(stats[1])
})
