import type { SolverOrderHour } from '../../../src/store/orders/solver-order-store.js'

/** An order with the times of its steps, Unix seconds. */
interface TimedOrder {
  readonly solver: string | undefined
  readonly deposited?: { readonly blockTime: number | undefined } | undefined
  readonly settled?: { readonly blockTime: number | undefined } | undefined
  readonly refunded?: { readonly blockTime: number | undefined } | undefined
}

const HOUR = 3600

/**
 * The hourly counts of orders, sorted by solver and hour: counted for each hour, with no regard to time.
 * Addresses are in lower case.
 */
export function countOrders(orders: readonly TimedOrder[]): SolverOrderHour[] {
  const counted: SolverOrderHour[] = []
  const hourOf = (step: TimedOrder['deposited']) => Math.floor((step?.blockTime ?? Number.NaN) / HOUR)
  const timed = orders.map(({ solver, deposited, settled, refunded }) => ({
    solver: solver?.toLowerCase(),
    orders: hourOf(deposited ?? settled ?? refunded),
    deposited: hourOf(deposited),
    settled: hourOf(settled),
    refunded: hourOf(refunded),
  }))
  const columns = ['orders', 'deposited', 'settled', 'refunded'] as const
  const times = timed.flatMap((order) => columns.map((column) => order[column]))
  const hours = [...new Set(times.filter(Number.isFinite))].sort((one, other) => one - other)
  const solvers = new Set(timed.flatMap(({ solver }) => solver ?? []))
  for (const solver of [...solvers].sort())
    for (const hour of hours) {
      const count = (column: (typeof columns)[number]) =>
        timed.filter((order) => order.solver === solver && order[column] === hour).length
      const [all, deposited, settled, refunded] = columns.map(count) as [number, number, number, number]
      if (all + deposited + settled + refunded > 0)
        counted.push({ solver: solver as `0x${string}`, hour, orders: all, deposited, settled, refunded })
    }
  return counted
}
