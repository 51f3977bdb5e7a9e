import type { SolverSummary } from '../../domain/solvers/solver-statistics.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { SolverDirectory } from '../registry/solver-directory.js'
import type { StatisticsReader } from './statistics-reader.js'

interface OrderMetricsOptions {
  readonly chainIds: readonly number[]
  readonly statistics: Pick<StatisticsReader, 'bySolver'>
  readonly directory: Pick<SolverDirectory, 'registered'>
  readonly metrics: Pick<Metrics, 'solverOrders'>
  /** Milliseconds that never go back. */
  readonly clock: () => number
}

const STEPS = ['deposited', 'settled', 'refunded'] as const
const WINDOW_HOURS = 24
const INTERVAL_MS = 30_000

/**
 * Builds the function that adds the orders of registered solvers to the metrics. It reads them when metrics are collected, at
 * most twice a minute, and the next collection has what it has read. After a read that failed, the last numbers stay.
 */
export function createOrderMetrics(options: OrderMetricsOptions): () => void {
  const { chainIds, statistics, directory, metrics, clock } = options
  const known = new Map<number, ReadonlyMap<string, SolverSummary>>()
  let readAt = Number.NEGATIVE_INFINITY

  function read(): void {
    if (clock() - readAt < INTERVAL_MS) return
    readAt = clock()
    for (const chainId of chainIds)
      statistics.bySolver(chainId, WINDOW_HOURS).then(
        (counts) => known.set(chainId, counts),
        () => {},
      )
  }

  return () => {
    metrics.solverOrders.reset()
    for (const [chain_id, counts] of known) {
      for (const { address } of directory.registered(chain_id))
        for (const step of STEPS)
          metrics.solverOrders.set({ chain_id, solver: address, step }, counts.get(address)?.[step] ?? 0)
    }
    read()
  }
}
