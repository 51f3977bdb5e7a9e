import { type SqlBool, sql } from 'kysely'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import {
  COUNTED_RESULTS,
  type QuoteCounts,
  readResponseTimes,
  writeResponseTimes,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { type Database, forEachBatch } from '../database.js'

/** What one process has counted of a solver in an hour. When it has forgotten an hour and counts it again, this is another. */
export interface WrittenHour extends SolverKey {
  /** Unix time in whole hours. */
  readonly hour: number
  /** A UUID of its own. */
  readonly writer: string
  readonly counts: QuoteCounts
}

/** What one process has counted of a solver in an hour, as it is read. */
export interface SolverHour {
  readonly solver: Address
  readonly hour: number
  readonly counts: QuoteCounts
}

/** Stores what solvers did by hour. */
export type SolverHourStore = ReturnType<typeof createSolverHourStore>

const COUNTS = [...COUNTED_RESULTS, 'won', 'won_alone'] as const
const CHANGED = [...COUNTS, 'response_times'] as const

function sumOf(table: 'excluded' | 'solver_hours') {
  return sql.join(
    COUNTS.map((count) => sql.ref(`${table}.${count}`)),
    sql` + `,
  )
}

/** Builds the store over an open database. */
export function createSolverHourStore(database: Database) {
  return {
    /**
     * The hours of a chain, at least one for each solver, hour and process.
     * @param untilHour the first hour after them
     * @param solver undefined for all solvers
     */
    async readHours(
      chainId: number,
      sinceHour: number,
      untilHour: number,
      solver?: Address,
    ): Promise<readonly SolverHour[]> {
      let rows = database
        .selectFrom('solver_hours')
        .select(['solver', 'hour', ...CHANGED])
        .where('chain_id', '=', chainId)
        .where('hour', '>=', sinceHour)
        .where('hour', '<', untilHour)
      if (solver !== undefined) rows = rows.where('solver', '=', solver)
      return (await rows.execute()).map((row) => {
        const { solver, hour, response_times, ...counts } = row
        return {
          solver: solver as Address,
          hour,
          counts: { ...counts, responseTimes: readResponseTimes(response_times) },
        }
      })
    },

    /**
     * Stores all that a process has counted in these hours. A repeated write changes nothing, and neither does one that arrives
     * after a later one: counts only grow.
     */
    save: (hours: readonly WrittenHour[]): Promise<void> =>
      forEachBatch(hours, async (batch) => {
        const rows = batch.map(({ chainId, address, hour, writer, counts: { responseTimes, ...counts } }) => {
          const key = { chain_id: chainId, hour, solver: address, writer }
          return { ...key, ...counts, response_times: writeResponseTimes(responseTimes) }
        })
        await database
          .insertInto('solver_hours')
          .values(rows)
          .onConflict((conflict) =>
            conflict
              .columns(['chain_id', 'hour', 'solver', 'writer'])
              .doUpdateSet(({ ref }) =>
                Object.fromEntries(CHANGED.map((column) => [column, ref(`excluded.${column}`)])),
              )
              .where(sql<SqlBool>`${sumOf('excluded')} > ${sumOf('solver_hours')}`),
          )
          .execute()
      }),

    /** Removes the oldest hour of all chains, if it is before this one. @returns whether there was one */
    async removeOldest(beforeHour: number): Promise<boolean> {
      const oldest = await database
        .selectFrom('solver_hours')
        .select('hour')
        .where('hour', '<', beforeHour)
        .orderBy('hour')
        .limit(1)
        .executeTakeFirst()
      if (oldest === undefined) return false
      await database.deleteFrom('solver_hours').where('hour', '=', oldest.hour).execute()
      return true
    },
  }
}
