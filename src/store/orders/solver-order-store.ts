import type { SolverOrderHour } from '../../../packages/protocol/src/orders/order-hours.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { BATCH_ROWS, type Database } from '../database.js'

export type { SolverOrderHour }

/** Reads the orders of solvers by hour. The event store writes them. */
export type SolverOrderStore = ReturnType<typeof createSolverOrderStore>

/** Builds the store over an open database. */
export function createSolverOrderStore(database: Database) {
  return {
    /**
     * The hours of a chain from one on, each solver's in order. An hour without orders and steps is left out. They are complete
     * for the last 31 days.
     * @param solver undefined for all solvers
     * @param untilHour the first hour after them; undefined without an end
     */
    async readHours(
      chainId: number,
      sinceHour: number,
      solver?: Address,
      untilHour?: number,
    ): Promise<readonly SolverOrderHour[]> {
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

    /** Removes some of the hours of all chains that are before this one. @returns whether there may be more */
    async pruneSomeHours(beforeHour: number): Promise<boolean> {
      const old = database
        .selectFrom('solver_order_hours')
        .select(['chain_id', 'solver', 'hour'])
        .where('hour', '<', beforeHour)
        .limit(BATCH_ROWS)
        .$asTuple('chain_id', 'solver', 'hour')
      const { numDeletedRows } = await database
        .deleteFrom('solver_order_hours')
        .where(({ eb, refTuple }) => eb(refTuple('chain_id', 'solver', 'hour'), 'in', old))
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows) === BATCH_ROWS
    },
  }
}
