import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import {
  type EventFilter,
  type LogEntry,
  ORDER_EVENT_TYPES,
} from '../../../packages/protocol/src/orders/event.js'
import type { Database } from '../database.js'
import type { Schema } from '../schema.js'
import { logEntryOf, reversionDetails } from './event-rows.js'

/** Builds the reads of the log's entries over an open database, as replays and cursors need them. */
export function createEventReads(database: Database) {
  return {
    /** The entry at a sequence; undefined when the log does not have it. */
    async readEntry(sequence: number): Promise<LogEntry | undefined> {
      const row = await database
        .selectFrom('events')
        .selectAll()
        .where('sequence', '=', sequence)
        .executeTakeFirst()
      return row && logEntryOf(row)
    },

    /** The entries after a sequence, in order. */
    async readAfter(sequence: number, limit: number): Promise<LogEntry[]> {
      const rows = await database
        .selectFrom('events')
        .selectAll()
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .execute()
      return rows.map(logEntryOf)
    },

    /**
     * The first entries in a range that pass a filter, in order.
     * @returns undefined when retention has removed entries of the range
     */
    async readMatching(
      filter: EventFilter,
      { after, through }: { readonly after: number; readonly through: number },
      limit: number,
    ): Promise<LogEntry[] | undefined> {
      const rows = await database
        .selectFrom('events')
        .selectAll()
        .where('sequence', '>', after)
        .where('sequence', '<=', through)
        .where(passes(filter))
        .orderBy('sequence')
        .limit(limit)
        .execute()
      // Retention removes entries from the beginning. If the range is complete now, it was complete during the read.
      const { pruned_sequence } = await database
        .selectFrom('event_log')
        .select('pruned_sequence')
        .executeTakeFirstOrThrow()
      return pruned_sequence > after ? undefined : rows.map(logEntryOf)
    },

    /** When the last entry was published, Unix time in milliseconds; undefined when the log has no entry. */
    async lastEntryTime(): Promise<number | undefined> {
      const row = await database
        .selectFrom('events')
        .select(['published_at_ms', 'block_time'])
        .orderBy('sequence', 'desc')
        .limit(1)
        .executeTakeFirst()
      // A wrong clock has also published entries. The time of a block is that of the chain.
      return row && Math.min(row.published_at_ms, row.block_time * 1000)
    },
  }
}

/** The SQL condition for a filter, with the same result as `matches` for an event. */
function passes(filter: EventFilter) {
  const { chainIds, types, orderIds, users, solvers } = filter
  return ({ eb, and, or }: ExpressionBuilder<Schema, 'events'>): Expression<SqlBool> => {
    const reverted = ORDER_EVENT_TYPES.filter((type) => types.has(type)).map(reversionDetails)
    return and([
      ...(chainIds.size > 0 ? [eb('chain_id', 'in', [...chainIds])] : []),
      ...(types.size > 0 ? [or([eb('type', 'in', [...types]), ...reversions(eb, reverted)])] : []),
      ...(orderIds.size > 0 ? [eb('order_id', 'in', [...orderIds])] : []),
      ...(users.size > 0 ? [eb('user', 'in', [...users])] : []),
      ...(solvers.size > 0 ? [eb('solver', 'in', [...solvers])] : []),
    ])
  }
}

/** The condition for the reversions of events; none for an empty list. */
function reversions(eb: ExpressionBuilder<Schema, 'events'>, details: readonly string[]) {
  return details.length === 0 ? [] : [eb.and([eb('type', '=', 'Reverted'), eb('details', 'in', details)])]
}
