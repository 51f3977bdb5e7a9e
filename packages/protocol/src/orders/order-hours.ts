import { hourOf } from '../solvers/solver-statistics.js'
import type { Address } from '../values/hex.js'
import { firstStepOf } from './listed-order.js'
import type { ListedOrder, OrderStep } from './order.js'

/** What a solver's orders did in one hour, by the times of the blocks. */
export interface SolverOrderHour {
  readonly solver: Address
  /** Unix time in whole hours. */
  readonly hour: number
  /** Orders whose first step was in this hour. */
  readonly orders: number
  /** Steps in this hour, whenever the first step of their orders was; also `settled` and `refunded`. */
  readonly deposited: number
  readonly settled: number
  readonly refunded: number
}

type Column = Exclude<keyof SolverOrderHour, 'solver' | 'hour'>

/** What an order counts for: one in a column of one hour of its solver. */
interface Contribution {
  readonly solver: Address
  readonly hour: number
  readonly column: Column
}

const STEPS = ['deposited', 'settled', 'refunded'] as const

/**
 * What an order counts for. An order counts in the hour of its first step, which also gives its place in lists. Orders
 * without a solver count for nothing until it is known.
 */
function contributionsOf({ solver, steps }: ListedOrder): Contribution[] {
  if (solver === undefined) return []
  const of = (column: Column, step: OrderStep | undefined): Contribution[] =>
    step === undefined ? [] : [{ solver, hour: hourOf(step.blockTime), column }]
  return [...of('orders', firstStepOf(steps)), ...STEPS.flatMap((step) => of(step, steps[step]))]
}

/**
 * The changes of the hourly counts when orders change: their contributions after the change less those before it. So the counts
 * are always those of the orders, after any history.
 * @param before the orders that change, of one chain; without the new ones
 * @param after the same orders after the change; without the removed ones
 * @returns what to add to each hour. Numbers may be negative, but not all of an hour are 0
 */
export function hourChanges(
  before: Iterable<ListedOrder>,
  after: Iterable<ListedOrder>,
): readonly SolverOrderHour[] {
  const changes = new Map<string, { -readonly [Key in keyof SolverOrderHour]: SolverOrderHour[Key] }>()
  const add = (orders: Iterable<ListedOrder>, by: 1 | -1) => {
    for (const order of orders)
      for (const { solver, hour, column } of contributionsOf(order)) {
        const key = `${solver} ${hour}`
        const change = changes.get(key) ?? { solver, hour, orders: 0, deposited: 0, settled: 0, refunded: 0 }
        change[column] += by
        changes.set(key, change)
      }
  }
  add(before, -1)
  add(after, 1)
  return [...changes.values()].filter(
    ({ orders, deposited, settled, refunded }) =>
      orders !== 0 || deposited !== 0 || settled !== 0 || refunded !== 0,
  )
}
