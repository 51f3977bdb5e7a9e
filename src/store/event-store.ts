import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { BlockHeader, ChainPosition, NewBlocks } from '../domain/block.js'
import type { Announcement } from '../domain/event.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Database } from './database.js'
import { announcementOf, type EventRow, eventRow, type NewEventRow, reversionRow } from './event-rows.js'
import type { Schema } from './schema.js'

/** Which log this is, and the part of it that is there. */
export interface LogState {
  /** Differs from that of every other log, so that a cursor of one means nothing to another. */
  readonly logId: string
  /** Sequence of the last entry; 0 before the first. */
  readonly lastSequence: number
  /** Sequence of the last entry that retention has removed; 0 when none was. */
  readonly prunedSequence: number
}

/** The log of everything that subscribers were told, and the position of each chain: they move together. */
export interface EventStore {
  readState(): Promise<LogState>
  readPosition(chainId: number): Promise<ChainPosition | undefined>
  /**
   * Begins to read a chain, or begins anew: behind `header`, which becomes its position. What was announced before is
   * left as it is, for good.
   */
  begin(chainId: number, settlement: Address, header: BlockHeader): Promise<void>
  /** Adds blocks and announces their events. */
  append(chainId: number, blocks: NewBlocks): Promise<Announcement[]>
  /** Takes back all events behind `ancestor`, latest first; it becomes the position. */
  revert(chainId: number, ancestor: BlockHeader): Promise<Announcement[]>
  /** The entries behind a sequence, in order. */
  readAfter(sequence: number, limit: number): Promise<Announcement[]>
  /**
   * Removes the entries at the beginning of the log that were announced before a time, Unix milliseconds.
   * @returns the sequence of the last entry removed so far; 0 when none was
   */
  prune(beforeMs: number): Promise<number>
}

/** Rows of one statement, and as much work as is done before others get their turn. */
const ROWS_AT_ONCE = 500

/**
 * Builds the event log over an open database.
 * @param now the clock, Unix time in milliseconds
 */
export function createEventStore(database: Database, now: () => number): EventStore {
  async function readState(on: Database): Promise<LogState> {
    const log = await on.selectFrom('event_log').selectAll().executeTakeFirstOrThrow()
    const { last } = await on
      .selectFrom('events')
      .select((select) => select.fn.max('sequence').as('last'))
      .executeTakeFirstOrThrow()
    const prunedSequence = log.pruned_sequence
    return { logId: log.log_id, lastSequence: last ?? prunedSequence, prunedSequence }
  }

  return {
    readState: () => database.transaction().execute(readState),

    async readPosition(chainId) {
      const position = await database
        .selectFrom('chain_positions')
        .selectAll()
        .where('chain_id', '=', chainId)
        .executeTakeFirst()
      if (position === undefined) return undefined
      const rows = await database
        .selectFrom('chain_headers')
        .selectAll()
        .where('chain_id', '=', chainId)
        .orderBy('number')
        .execute()
      const [first, ...rest] = rows.map(headerOf)
      if (first === undefined) throw new Error(`chain ${chainId} has a position and no block`)
      return {
        settlement: position.settlement as Address,
        firstBlock: position.first_block,
        headers: [first, ...rest],
      }
    },

    begin: (chainId, settlement, header) =>
      database.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('chain_headers').where('chain_id', '=', chainId).execute()
        await insertHeaders(transaction, chainId, [header])
        await transaction
          .updateTable('events')
          .set({ is_standing: 0 })
          .where('chain_id', '=', chainId)
          .where('is_standing', '=', 1)
          .execute()
        const start = { settlement, first_block: header.number + 1 }
        await transaction
          .insertInto('chain_positions')
          .values({ chain_id: chainId, ...start })
          .onConflict((conflict) => conflict.column('chain_id').doUpdateSet(start))
          .execute()
      }),

    append: (chainId, { headers, events, keepFrom }) =>
      database.transaction().execute(async (transaction) => {
        await insertHeaders(transaction, chainId, headers)
        await transaction
          .deleteFrom('chain_headers')
          .where('chain_id', '=', chainId)
          .where('number', '<', keepFrom)
          .execute()
        if (events.length === 0) return []
        const { lastSequence } = await readState(transaction)
        const time = now()
        return insertEvents(
          transaction,
          events.map((event, index) => eventRow(lastSequence + 1 + index, event, time)),
        )
      }),

    revert: (chainId, ancestor) =>
      database.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom('chain_headers')
          .where('chain_id', '=', chainId)
          .where('number', '>=', ancestor.number)
          .execute()
        await insertHeaders(transaction, chainId, [ancestor])
        const standing = await takeDown(transaction, chainId, ancestor.number)
        const { lastSequence } = await readState(transaction)
        const time = now()
        return insertEvents(
          transaction,
          standing.map((row, index) => reversionRow(lastSequence + 1 + index, row, time)),
        )
      }),

    async readAfter(sequence, limit) {
      const rows = await database
        .selectFrom('events')
        .selectAll()
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .execute()
      return rows.map(announcementOf)
    },

    async prune(beforeMs) {
      for (;;) {
        const page = await database
          .selectFrom('events')
          .select(['sequence', 'announced_at_ms'])
          .orderBy('sequence')
          .limit(ROWS_AT_ONCE)
          .execute()
        const kept = page.findIndex((row) => row.announced_at_ms >= beforeMs)
        const last = (kept === -1 ? page : page.slice(0, kept)).at(-1)
        if (last !== undefined) await removeThrough(database, last.sequence)
        if (kept !== -1 || page.length < ROWS_AT_ONCE) break
        await nextTurn()
      }
      return (await readState(database)).prunedSequence
    },
  }
}

function headerOf({ number, hash, parent_hash }: Selectable<Schema['chain_headers']>): BlockHeader {
  return { number, hash: hash as Hex, parentHash: parent_hash as Hex }
}

/** Marks the events of all blocks above a number as taken back. @returns their rows, the latest first */
async function takeDown(database: Database, chainId: number, aboveBlock: number): Promise<EventRow[]> {
  const standing = await database
    .selectFrom('events')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('block_number', '>', aboveBlock)
    .where('is_standing', '=', 1)
    .orderBy('sequence', 'desc')
    .execute()
  await database
    .updateTable('events')
    .set({ is_standing: 0 })
    .where('chain_id', '=', chainId)
    .where('block_number', '>', aboveBlock)
    .where('is_standing', '=', 1)
    .execute()
  return standing
}

function removeThrough(database: Database, sequence: number): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('events').where('sequence', '<=', sequence).execute()
    await transaction
      .updateTable('event_log')
      .set({ pruned_sequence: sequence })
      .where('pruned_sequence', '<', sequence)
      .execute()
  })
}

async function insertHeaders(
  database: Database,
  chainId: number,
  headers: readonly BlockHeader[],
): Promise<void> {
  for (let start = 0; start < headers.length; start += ROWS_AT_ONCE) {
    const rows = headers.slice(start, start + ROWS_AT_ONCE).map(({ number, hash, parentHash }) => ({
      chain_id: chainId,
      number,
      hash,
      parent_hash: parentHash,
    }))
    await database.insertInto('chain_headers').values(rows).execute()
  }
}

async function insertEvents(database: Database, rows: readonly NewEventRow[]): Promise<Announcement[]> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    if (start > 0) await nextTurn()
    await database
      .insertInto('events')
      .values(rows.slice(start, start + ROWS_AT_ONCE))
      .execute()
  }
  return rows.map(announcementOf)
}
