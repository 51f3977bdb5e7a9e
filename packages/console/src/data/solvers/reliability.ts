import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SolverStats } from '../../../../../gen/aggregator/v1/solver_stats_pb.js'
import type { Attempt } from '../auction/auction.js'
import { timeToFill } from '../orders/orders.js'
import { useLatestOrders } from '../orders/use-latest-orders.js'
import { useSolverStats } from './stats.js'

/** How a solver has kept its word. */
export interface Reliability {
  /** The orders of 24 hours that it has paid. */
  readonly paid: bigint
  /** The orders of 24 hours that have ended. */
  readonly ended: bigint
  /** The median time to fill of its latest orders, in milliseconds; undefined without one. */
  readonly fillMs: number | undefined
}

/** How the solvers of a chain have kept their word, by address in lower case. */
type Reliabilities = ReadonlyMap<string, Reliability>

/** The reliabilities, as far as they are read. */
export const useReliabilities = (chainId: bigint): Reliabilities =>
  readReliabilities(useSolverStats(chainId, '24h', true).data?.solvers ?? [], useLatestOrders(chainId).orders)

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

/** Whether a solver has left so many orders unpaid that a user should know before the choice. */
export const isRisky = ({ paid, ended }: Pick<Reliability, 'paid' | 'ended'>) => paid * 10n < ended * 9n

/** An offer with how its solver has kept its word. */
type Judged = readonly [attempt: Attempt, reliability: Reliability]

/** The offer that is shown, and a safer one. */
export type SaferPair = readonly [shown: Judged, safer: Judged]

/** The same as `saferAttempt`, with the reliabilities as far as they are read. */
export const useSaferPair = (chainId: bigint, attempts: readonly Attempt[] = [], solver?: string) =>
  saferAttempt(attempts, useReliabilities(chainId), solver)

/**
 * The offer that is shown and the best one of a solver that has paid nearly all of its orders, when that of the shown one has not.
 * @param solver of the shown offer; the best one when it has none
 */
export function saferAttempt(
  attempts: readonly Attempt[],
  known: Reliabilities,
  solver?: string,
): SaferPair | undefined {
  const offers = attempts.filter(({ rank }) => rank !== undefined)
  const judge = (attempt: Attempt | undefined): Judged | undefined => {
    const reliability = attempt && known.get(attempt.solver.toLowerCase())
    return reliability && [attempt, reliability]
  }
  const shown = judge(offers.find((offer) => offer.solver === solver) ?? offers[0])
  if (shown === undefined || !isRisky(shown[1])) return undefined
  const safer = offers
    .flatMap((offer) => [judge(offer) ?? shown])
    .find(([, of]) => of.paid > 0n && !isRisky(of))
  return safer && [shown, safer]
}
