import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SolverStats } from '../../../../../gen/aggregator/v1/solver_stats_pb.js'
import type { Attempt } from '../auction/auction.js'
import { timeToFill } from '../orders/orders.js'
import { useLatestOrders } from '../orders/use-latest-orders.js'
import { useSolverStats } from './stats.js'

/** How many of a solver's orders that have ended it has paid. */
export interface PaidOrders {
  readonly paid: bigint
  readonly ended: bigint
}

/** How a solver has kept its word in 24 hours. */
interface Reliability extends PaidOrders {
  /** The median time to fill of its latest orders, in milliseconds; undefined without one. */
  readonly fillMs: number | undefined
}

/** How the solvers of a chain have kept their word, by address in lower case. */
type Reliabilities = ReadonlyMap<string, Reliability>

/** The reliabilities; undefined before they are read. */
export function useReliabilities(chainId: bigint): Reliabilities | undefined {
  const { data } = useSolverStats(chainId, '24h', true)
  const { orders, failure } = useLatestOrders(chainId)
  return data && (orders ?? failure) && readReliabilities(data.solvers, orders)
}

/** The reliability of a solver; undefined before it is read. */
export const reliabilityOf = (known: Reliabilities | undefined, solver: string): Reliability | undefined =>
  known && (known.get(solver.toLowerCase()) ?? { paid: 0n, ended: 0n, fillMs: undefined })

/** Reads them from the statistics of a day. @param orders the latest ones */
export const readReliabilities = (
  solvers: readonly Pick<SolverStats, 'solver' | 'settled' | 'refunded'>[],
  orders: readonly Order[] = [],
): Reliabilities =>
  new Map(
    solvers.map(({ solver, settled, refunded }) => [
      solver.toLowerCase(),
      { paid: settled, ended: settled + refunded, fillMs: usualFillMs(orders, solver) },
    ]),
  )

/** The median time to fill of a solver's orders among these, in milliseconds; undefined without one. */
export function usualFillMs(orders: readonly Order[], address: string): number | undefined {
  const own = orders.filter(({ solver }) => solver?.toLowerCase() === address.toLowerCase())
  const times = own.flatMap((order) => timeToFill(order) ?? []).toSorted((a, b) => a - b)
  return times[Math.floor((times.length - 1) / 2)]
}

/** What the orders of a solver weigh: each unpaid one as much as nine paid ones. */
export const weightOf = ({ paid, ended }: PaidOrders) => paid - 9n * (ended - paid)

/** Whether a solver has left so many orders unpaid that a user should know before the choice. */
export const isRisky = (of: PaidOrders) => weightOf(of) < 0n

/** An offer with how its solver has kept its word. */
type Judged = readonly [attempt: Attempt, reliability: Reliability]

/** The offer that is shown, and a safer one. */
export type SaferPair = readonly [shown: Judged, safer: Judged]

/**
 * The offer that is shown, when its solver has left orders unpaid, and a safer one: of a risky solver the best one of a solver that has paid
 * nearly all of its orders, else the best one of a solver that has paid all, and not just a few.
 * @param solver of the shown offer; the best one when it has none
 */
export function saferAttempt(
  attempts: readonly Attempt[],
  known: Reliabilities | undefined,
  solver?: string,
): SaferPair | undefined {
  const offers = attempts.filter(({ rank }) => rank !== undefined)
  const judged = offers.flatMap((attempt): Judged[] => {
    const of = known?.get(attempt.solver.toLowerCase())
    return of ? [[attempt, of]] : []
  })
  const best = offers.find((offer) => offer.solver === solver) ?? offers[0]
  const shown = judged.find(([attempt]) => attempt === best)
  if (shown === undefined || shown[1].paid === shown[1].ended) return undefined
  const left = shown[1]
  const safer = judged.find(([, of]) =>
    isRisky(left) ? of.paid > 0n && !isRisky(of) : of.paid === of.ended && of.paid > weightOf(left),
  )
  return safer && [shown, safer]
}
