import { expect, test } from 'vitest'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import { createRoundCounts } from '../../../src/auction/sinks.js'
import type { SolverStatistics } from '../../../src/solvers/statistics/hourly-counts.js'
import { removeOtherSolvers } from '../../../src/solvers/statistics/solver-counters.js'
import type { Standings } from '../../../src/standing/standing.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { attemptOf, sampleRound, signed, solverAddress } from '../../auction/records/sample-round.js'
import { solver } from '../sample-solver.js'

const LATE: SolverResult = { kind: 'late' }
const DECLINED: SolverResult = { kind: 'declined', status: 422 }
const FAILED: SolverResult = { kind: 'failed', reason: 'connection_lost', message: '' }

function openCounters() {
  const metrics = createMetrics()
  const standings = {
    wasQuoted: (chainId: number, pair: string) => chainId === 1 && pair === 'quoted',
  } as Standings
  const stored: unknown[] = []
  const statistics: SolverStatistics = {
    count: ({ address }, result, responseMs) => void stored.push([address, result, responseMs]),
    countWin: ({ address }, isAlone) => void stored.push([address, isAlone ? 'won alone' : 'won']),
    close: async () => {},
  }
  const sink = createRoundCounts(standings, statistics, metrics)
  const series = async (name: string) => {
    const text = await metrics.registry.getSingleMetricAsString(name)
    return text.split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'))
  }
  return {
    stored,
    /** Counts a round with one request for each result, best first. */
    countAll(...results: SolverResult[]) {
      const attempts = results.map((result, index) => attemptOf(index + 1, result, 100 * (index + 1)))
      sink.onAnswer?.(sampleRound({ attempts, checked: attempts, outcome: 'quoted' }))
    },
    /** Counts a round of a pair. */
    countRound: (pair: string, outcome: QuoteRecord['outcome']) =>
      sink.onAnswer?.(sampleRound({ pair, outcome })),
    quotes: () => series('aggregator_quotes_total'),
    /** Counts a round with one request. */
    count(number: number, result: SolverResult, tookMs = 0) {
      const attempts = [{ ...attemptOf(number, result, tookMs), solver: solver(number).address }]
      sink.onAnswer?.(sampleRound({ attempts, checked: attempts }))
    },
    removeOthers: (...reachable: number[]) =>
      removeOtherSolvers(metrics, new Map([[1, reachable.map((number) => solver(number))]])),
    outcomes: () => series('aggregator_solver_outcomes_total'),
    durations: () => series('aggregator_solver_response_duration_seconds'),
  }
}

const labels = (number: number) => `chain_id="1",solver="${solver(number).address}"`

test('the results of each solver are counted', async () => {
  const { count, removeOthers, outcomes, durations } = openCounters()
  count(1, { kind: 'quoted', offer: signed(1, 10n) }, 250)
  count(1, { kind: 'quoted', offer: signed(1, 10n) }, 500)
  count(1, LATE)
  count(2, DECLINED, 125)
  await removeOthers(1, 2)
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
  count(1, DECLINED, 1000)
  count(1, LATE)
  await removeOthers(1)
  await removeOthers()
  expect([await outcomes(), await durations()]).toEqual([[], []])
  count(1, FAILED, 1000)
  await removeOthers(1)
  expect(await outcomes()).toEqual([`aggregator_solver_outcomes_total{${labels(1)},outcome="failed"} 1`])
})

test('a quote without an offer is missed in a pair that was quoted lately, and in no other', async () => {
  const { countRound, quotes } = openCounters()
  countRound('quoted', 'no_quotes')
  countRound('quoted', 'cancelled')
  countRound('odd', 'no_quotes')
  expect(await quotes()).toEqual([
    'aggregator_quotes_total{chain_id="1",outcome="missed"} 1',
    'aggregator_quotes_total{chain_id="1",outcome="cancelled"} 1',
    'aggregator_quotes_total{chain_id="1",outcome="no_quotes"} 1',
  ])
})

test('statistics count each result, with the time of an answer, and the win of the best offer', () => {
  const { countAll, stored } = openCounters()
  const quoted: SolverResult = { kind: 'quoted', offer: signed(1, 10n) }
  countAll(quoted, quoted, LATE)
  countAll(quoted, DECLINED, FAILED)
  const [first, second, third] = [1, 2, 3].map(solverAddress)
  expect(stored).toEqual([
    [first, 'quoted', 100],
    [second, 'quoted', 200],
    [third, 'late', undefined],
    [first, 'won'],
    [first, 'quoted', 100],
    [second, 'declined', 200],
    [third, 'failed', 300],
    [first, 'won alone'],
  ])
})
