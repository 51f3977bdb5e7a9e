import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SolverStats } from '../../../../../gen/aggregator/v1/solver_stats_pb.js'
import { timeToFill } from '../orders/orders.js'
import { useLatestOrders } from '../orders/use-latest-orders.js'
import { useSolverStats } from './stats.js'

/** How a solver has kept its word. */
export interface Reliability {
  /** The share of its orders of 24 hours that it has filled; undefined without one that has ended. */
  readonly fillRate: number | undefined
  /** The orders of 24 hours that have ended. */
  readonly ended: bigint
  /** The median time to fill of its latest orders, in milliseconds; undefined without one. */
  readonly usualFillMs: number | undefined
}

/** How the solvers of a chain have kept their word, by address in lower case. */
export type Reliabilities = ReadonlyMap<string, Reliability>

/** The reliabilities, as far as they are read. */
export function useReliabilities(chainId: bigint): Reliabilities {
  const { data } = useSolverStats(chainId, '24h', true)
  const { orders } = useLatestOrders(chainId)
  return readReliabilities(data?.solvers ?? [], orders ?? [])
}

/** Reads them from the statistics of a day and the latest orders. */
export function readReliabilities(
  solvers: readonly Pick<SolverStats, 'solver' | 'fillRate' | 'settled' | 'refunded'>[],
  orders: readonly Pick<Order, 'solver' | 'deposited' | 'settled'>[],
): Reliabilities {
  return new Map(
    solvers.map(({ solver, fillRate, settled, refunded }) => {
      const address = solver.toLowerCase()
      const own = orders.filter((order) => order.solver?.toLowerCase() === address)
      const times = own.flatMap((order) => timeToFill(order) ?? []).toSorted((a, b) => a - b)
      const usualFillMs = times[Math.floor((times.length - 1) / 2)]
      return [address, { fillRate, ended: settled + refunded, usualFillMs }]
    }),
  )
}
