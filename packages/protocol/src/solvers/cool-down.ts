import type { ListedOrder, OrderStep } from '../orders/order.js'
import type { SolverOrderHour } from '../orders/order-hours.js'
import { DAY_SECONDS } from '../values/time.js'
import { hourOf } from './solver-statistics.js'

/** A time in which a solver is not asked, because orders that users had deposited were refunded (docs/decisions.md, D20). */
export interface CoolDown {
  /** Its end, Unix time in milliseconds. */
  readonly until: number
  /** How many cool-downs followed each other, this one included. */
  readonly level: number
}

/** An order that was refunded. */
export type RefundedOrder = Pick<ListedOrder, 'orderId' | 'user' | 'steps'>

/** The longest cool-down. */
export const MAX_COOL_DOWN_SECONDS = 8 * 3600
/** How far before the newest refund a refund still counts. */
const HISTORY_SECONDS = 7 * DAY_SECONDS
const MIN_USERS = 2
/** A refund triggers when at least one order in this many was refunded: 20%. */
const ORDERS_PER_REFUND = 5

/** A refund that counts. Times are Unix times in seconds. */
interface Refund {
  readonly user: string
  readonly depositedAt: number
  readonly refundedAt: number
}

/**
 * The last cool-down of a solver, which may have ended; undefined when it had none. It follows from the orders alone, so that
 * replicas agree on it, and a restart or a reorganisation needs nothing more:
 * - Refunds count when the order has a `Deposited` event, and the times of both steps are known. They count for seven days
 *   before the newest one, whatever the clock says. Their order is that of the chain.
 * - A refund triggers a cool-down when its condition holds: in the 24 hours up to its block time, it and the refunds before it
 *   are of at least two users, and at least 20% of the orders in the hours that overlap these 24 hours. A refund exactly 24
 *   hours earlier is outside. Orders in the rest of the refund's hour count too: while that hour lasts, they can end the
 *   cool-down. An order that was deposited more than 24 hours before its refund counts as refunded only.
 * - The first cool-down begins at the block time of its refund. A later refund triggers the next one only if its order was
 *   deposited after the last one had ended, not in the same second. So orders of one failure count once, whenever they are
 *   refunded.
 * - Each cool-down that triggers within 24 hours after the end of the last one lasts twice as long, at most 8 hours. After 24
 *   hours, the level is 1 again; the rule about the deposit stays.
 * @param refunded refunded orders of one solver of a chain, in any order
 * @param hours the hours of this solver that overlap the 24 hours before the refunds that count, from `firstHour` on
 * @param seconds length of the first cool-down, at most `MAX_COOL_DOWN_SECONDS`
 */
export function lastCoolDown(
  refunded: readonly RefundedOrder[],
  hours: readonly Pick<SolverOrderHour, 'hour' | 'orders'>[],
  seconds: number,
): CoolDown | undefined {
  const ordersOf = new Map(hours.map(({ hour, orders }) => [hour, orders]))
  const refunds = countedRefunds(refunded)
  const day = new RefundsOfDay()
  let last: { readonly end: number; readonly level: number } | undefined
  for (const refund of refunds) {
    const { depositedAt, refundedAt } = refund
    day.add(refund)
    if (last !== undefined && depositedAt <= last.end) continue
    if (day.users < MIN_USERS) continue
    if (day.refunds * ORDERS_PER_REFUND < ordersUntil(refundedAt, ordersOf)) continue
    const level = last === undefined || refundedAt - last.end >= DAY_SECONDS ? 1 : last.level + 1
    last = { end: refundedAt + Math.min(seconds * 2 ** (level - 1), MAX_COOL_DOWN_SECONDS), level }
  }
  return last && { until: last.end * 1000, level: last.level }
}

/** The first hour whose orders matter to a solver with these refunded orders; undefined when none of them counts. */
export function firstHour(refunded: readonly RefundedOrder[]): number | undefined {
  const [oldest] = countedRefunds(refunded)
  return oldest && hourOf(oldest.refundedAt - DAY_SECONDS)
}

/** The refunds that count, in the order of the chain. */
function countedRefunds(refunded: readonly RefundedOrder[]): Refund[] {
  const refunds = refunded
    .flatMap(({ orderId, user, steps: { deposited, refunded: step } }) =>
      deposited === undefined || step === undefined
        ? []
        : [{ orderId, user, depositedAt: deposited.blockTime, refundedAt: step.blockTime, step }],
    )
    .sort(byPosition)
  const newest = refunds.at(-1)?.refundedAt ?? 0
  return refunds.filter(({ refundedAt }) => refundedAt > newest - HISTORY_SECONDS)
}

type Positioned = { readonly orderId: string; readonly step: OrderStep }

function byPosition(one: Positioned, other: Positioned): number {
  return (
    one.step.blockNumber - other.step.blockNumber ||
    one.step.logIndex - other.step.logIndex ||
    (one.orderId < other.orderId ? -1 : 1)
  )
}

/** The refunds of the 24 hours up to the last one. */
class RefundsOfDay {
  readonly #refunds: Refund[] = []
  readonly #refundsOfUsers = new Map<string, number>()
  /** Those before this index are older. */
  #first = 0

  get refunds(): number {
    return this.#refunds.length - this.#first
  }

  get users(): number {
    return this.#refundsOfUsers.size
  }

  /** @param refund in the order of the chain, so not earlier than the last one */
  add(refund: Refund): void {
    this.#refunds.push(refund)
    this.#count(refund, 1)
    for (;;) {
      const oldest = this.#refunds[this.#first]
      if (oldest === undefined || oldest.refundedAt > refund.refundedAt - DAY_SECONDS) return
      this.#count(oldest, -1)
      this.#first++
    }
  }

  #count({ user }: Refund, by: 1 | -1): void {
    const count = (this.#refundsOfUsers.get(user) ?? 0) + by
    if (count === 0) this.#refundsOfUsers.delete(user)
    else this.#refundsOfUsers.set(user, count)
  }
}

/** The orders of all hours that overlap the 24 hours up to a time. */
function ordersUntil(seconds: number, ordersOf: ReadonlyMap<number, number>): number {
  let sum = 0
  for (let hour = hourOf(seconds - DAY_SECONDS); hour <= hourOf(seconds); hour++)
    sum += ordersOf.get(hour) ?? 0
  return sum
}
