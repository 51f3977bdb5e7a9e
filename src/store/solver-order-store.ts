import { sql } from 'kysely'
import type { RefundedOrder } from '../domain/cool-down.js'
import type { Address, Hex } from '../domain/hex.js'
import { hourOf, type SolverOrderHour } from '../domain/order-hours.js'
import { DAY_SECONDS } from '../domain/time.js'
import { BATCH_ROWS } from './batches.js'
import type { Database } from './database.js'
import { readSteps } from './order-rows.js'

export type { SolverOrderHour }

/** Reads the orders of solvers by hour. The event store writes them. */
export interface SolverOrderStore {
  /**
   * The hours of a chain from one on, each solver's in order. An hour without orders and steps is left out. They are complete
   * for the last 31 days.
   * @param solver undefined for all solvers
   * @param untilHour the first hour after them; undefined without an end
   */
  readHours(
    chainId: number,
    sinceHour: number,
    solver?: Address,
    untilHour?: number,
  ): Promise<readonly SolverOrderHour[]>
  /** The newest refunded orders of a solver by their first steps, at most 1,000. */
  readRefunded(chainId: number, solver: Address): Promise<readonly RefundedOrder[]>
  /**
   * Removes some of the hours that are older than 31 days. Age counts from a chain's newest hour at the latest, so that a wrong
   * clock removes nothing.
   * @param nowMs Unix time in milliseconds
   * @returns whether more are left
   */
  pruneSomeHours(nowMs: number): Promise<boolean>
}

const MAX_REFUNDED = 1000
const KEPT_HOURS = hourOf(31 * DAY_SECONDS)

/** Builds the store over an open database. */
export function createSolverOrderStore(database: Database): SolverOrderStore {
  /** The first hour of a chain to keep; undefined when it has none. */
  async function firstKept(chainId: number, nowMs: number): Promise<number | undefined> {
    const newest = await database
      .selectFrom('solver_order_hours')
      .select('hour')
      .where('chain_id', '=', chainId)
      .orderBy('hour', 'desc')
      .limit(1)
      .executeTakeFirst()
    return newest && Math.min(newest.hour, hourOf(nowMs / 1000)) - KEPT_HOURS
  }

  async function hasBefore(chainId: number, hour: number): Promise<boolean> {
    const old = await database
      .selectFrom('solver_order_hours')
      .select('hour')
      .where('chain_id', '=', chainId)
      .where('hour', '<', hour)
      .limit(1)
      .executeTakeFirst()
    return old !== undefined
  }

  /** Like all writes of a chain, it waits for the leader's, so that two cannot wait for each other. */
  function removeBefore(chainId: number, hour: number): Promise<number> {
    return database.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('chain_leaders')
        .set({ epoch: sql<number>`epoch` })
        .where('chain_id', '=', chainId)
        .execute()
      const old = transaction
        .selectFrom('solver_order_hours')
        .select(['solver', 'hour'])
        .where('chain_id', '=', chainId)
        .where('hour', '<', hour)
        .limit(BATCH_ROWS)
      const { numDeletedRows } = await transaction
        .deleteFrom('solver_order_hours')
        .where('chain_id', '=', chainId)
        .where(({ eb, refTuple }) => eb(refTuple('solver', 'hour'), 'in', old.$asTuple('solver', 'hour')))
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    })
  }

  return {
    async readHours(chainId, sinceHour, solver, untilHour) {
      let rows = database
        .selectFrom('solver_order_hours')
        .select(['solver', 'hour', 'orders', 'deposited', 'settled', 'refunded'])
        .where('chain_id', '=', chainId)
        .where('hour', '>=', sinceHour)
        .where(({ or, eb }) =>
          or((['orders', 'deposited', 'settled', 'refunded'] as const).map((count) => eb(count, '<>', 0))),
        )
      if (solver !== undefined) rows = rows.where('solver', '=', solver)
      if (untilHour !== undefined) rows = rows.where('hour', '<', untilHour)
      const hours = await rows.orderBy('solver').orderBy('hour').execute()
      return hours.map((row) => ({ ...row, solver: row.solver as Address }))
    },

    async readRefunded(chainId, solver) {
      const rows = await database
        .selectFrom('orders')
        .select(['order_id', 'user', 'steps'])
        .where('chain_id', '=', chainId)
        .where('solver', '=', solver)
        .where('state', '=', 'REFUNDED')
        .orderBy('block_number', 'desc')
        .orderBy('log_index', 'desc')
        .orderBy('order_id', 'desc')
        .limit(MAX_REFUNDED)
        .execute()
      return rows.map(({ order_id, user, steps }) => ({
        orderId: order_id as Hex,
        user: user as Address,
        steps: readSteps(steps),
      }))
    },

    async pruneSomeHours(nowMs) {
      const chains = await database.selectFrom('chain_leaders').select('chain_id').execute()
      let isMore = false
      for (const { chain_id } of chains) {
        const first = await firstKept(chain_id, nowMs)
        // Without a transaction, which would lock and write for nothing.
        if (first === undefined || !(await hasBefore(chain_id, first))) continue
        if ((await removeBefore(chain_id, first)) === BATCH_ROWS) isMore = true
      }
      return isMore
    },
  }
}
