import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Address } from '../domain/hex.js'
import { readResponseTimes, writeResponseTimes } from '../domain/response-times.js'
import type { SolverKey } from '../domain/solver.js'
import { COUNTED_RESULTS, type QuoteCounts } from '../domain/solver-statistics.js'
import { forEachBatch } from './batches.js'
import type { Database } from './database.js'
import type { Schema } from './schema.js'

/** What one process has counted of a solver in an hour. */
export interface WrittenHour extends SolverKey {
  /** Unix time in whole hours. */
  readonly hour: number
  readonly counts: QuoteCounts
}

/** What one process has counted of a solver in an hour, as it is read. */
export interface SolverHour {
  readonly solver: Address
  readonly hour: number
  readonly counts: QuoteCounts
}

/** Selects hours of a chain. */
export interface HourWindow {
  readonly chainId: number
  /** The first hour, Unix time in whole hours. */
  readonly since: number
  /** The first hour after the window. */
  readonly until: number
  /** Undefined for all solvers. */
  readonly solver?: Address | undefined
}

/** A place among the hours of a chain: each has one row for each solver and process. */
export interface HourPosition {
  readonly hour: number
  readonly solver: string
  readonly writer: string
}

/** Some hours of a window. */
export interface HourPage {
  readonly hours: readonly SolverHour[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: HourPosition | undefined
}

/** Stores what solvers did by hour. */
export interface SolverHourStore {
  /**
   * Reads some hours of a window, the oldest first: one for each solver, hour and process.
   * @param after where the page before ended; undefined for the first page
   */
  readPage(window: HourWindow, after?: HourPosition): Promise<HourPage>
  /**
   * Stores all that a process has counted in these hours. A repeated write changes nothing, and neither does one that arrives
   * after a later one: counts only grow.
   * @param writer the UUID of the process
   */
  save(writer: string, hours: readonly WrittenHour[]): Promise<void>
  /** Removes the oldest hour of all chains, if it is before this one. @returns whether there was one */
  removeOldest(beforeHour: number): Promise<boolean>
}

/** To read and add up this many takes about a millisecond. */
const PAGE_HOURS = 300

const COUNTS = [...COUNTED_RESULTS, 'won'] as const
const CHANGED = [...COUNTS, 'response_times'] as const

function sumOf(table: 'excluded' | 'solver_hours') {
  return sql.join(
    COUNTS.map((count) => sql.ref(`${table}.${count}`)),
    sql` + `,
  )
}

/** Whether a row comes after a position, in the order of hour, solver and process. */
function isAfter(row: ExpressionBuilder<Schema, 'solver_hours'>, { hour, solver, writer }: HourPosition) {
  return row.or([
    row('hour', '>', hour),
    row('solver', '>', solver),
    row.and([row('solver', '=', solver), row('writer', '>', writer)]),
  ])
}

/** Builds the store over an open database. */
export function createSolverHourStore(database: Database): SolverHourStore {
  return {
    async readPage({ chainId, since, until, solver }, after) {
      let rows = database
        .selectFrom('solver_hours')
        .select(['solver', 'hour', 'writer', ...CHANGED])
        .where('chain_id', '=', chainId)
        .where('hour', '>=', after?.hour ?? since)
        .where('hour', '<', until)
      if (solver !== undefined) rows = rows.where('solver', '=', solver)
      if (after !== undefined) rows = rows.where((row) => isAfter(row, after))
      const page = await rows.orderBy('hour').orderBy('solver').orderBy('writer').limit(PAGE_HOURS).execute()
      return {
        hours: page.map(({ solver, hour, writer: _writer, response_times, ...counts }) => ({
          solver: solver as Address,
          hour,
          counts: { ...counts, responseTimes: readResponseTimes(response_times) },
        })),
        next: page[PAGE_HOURS - 1],
      }
    },

    save: (writer, hours) =>
      forEachBatch(hours, async (batch) => {
        const rows = batch.map(({ chainId, address, hour, counts: { responseTimes, ...counts } }) => {
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

    async removeOldest(beforeHour) {
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
