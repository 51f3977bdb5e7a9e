import { expect, test } from 'vitest'
import { createSolverCounters } from '../../../src/solvers/statistics/solver-counters.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { solver } from '../sample-solver.js'

function openCounters() {
  const metrics = createMetrics()
  const counters = createSolverCounters(metrics)
  const series = async (name: string) => {
    const text = await metrics.registry.getSingleMetricAsString(name)
    return text.split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'))
  }
  return {
    ...counters,
    outcomes: () => series('aggregator_solver_outcomes_total'),
    durations: () => series('aggregator_solver_response_duration_seconds'),
  }
}

const labels = (number: number) => `chain_id="1",solver="${solver(number).address}"`

test('the results of each solver are counted, also when its registration changes', async () => {
  const { count, removeOthers, outcomes, durations } = openCounters()
  count(solver(1), 'quoted', 0.25)
  count(solver(1, { name: 'New' }), 'quoted', 0.5)
  count(solver(1), 'late', undefined)
  count(solver(2), 'declined', 0.125)
  const active = new Map([[1, [solver(1), solver(2)]]])
  removeOthers(active)
  expect(await outcomes()).toEqual([
    `aggregator_solver_outcomes_total{${labels(1)},outcome="quoted"} 2`,
    `aggregator_solver_outcomes_total{${labels(1)},outcome="late"} 1`,
    `aggregator_solver_outcomes_total{${labels(2)},outcome="declined"} 1`,
  ])
  expect(await durations()).toEqual([
    `aggregator_solver_response_duration_seconds_sum{${labels(1)}} 0.75`,
    `aggregator_solver_response_duration_seconds_count{${labels(1)}} 2`,
    `aggregator_solver_response_duration_seconds_sum{${labels(2)}} 0.125`,
    `aggregator_solver_response_duration_seconds_count{${labels(2)}} 1`,
  ])
})

test('the series of a solver that leaves are removed, and start again when it comes back', async () => {
  const { count, removeOthers, outcomes, durations } = openCounters()
  count(solver(1), 'quoted', 1)
  count(solver(1), 'soft_deadline', undefined)
  removeOthers(new Map([[1, [solver(1)]]]))
  removeOthers(new Map([[1, []]]))
  expect([await outcomes(), await durations()]).toEqual([[], []])
  count(solver(1), 'failed', 1)
  removeOthers(new Map([[1, [solver(1)]]]))
  expect(await outcomes()).toEqual([`aggregator_solver_outcomes_total{${labels(1)},outcome="failed"} 1`])
})
