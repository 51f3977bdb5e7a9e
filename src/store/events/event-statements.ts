import { sql } from 'kysely'
import type { BlockRef, EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Database, DatabaseTransaction } from '../database.js'
import type { EventRow } from './event-rows.js'

/**
 * Makes other writers of entries wait until the end of the transaction. Call it before a row of an entry changes.
 * Otherwise two writers could wait for each other forever.
 */
export async function lockLog(transaction: DatabaseTransaction): Promise<void> {
  await moveLastSequence(transaction, 0)
}

/** Reserves the next sequences, and locks the log like `lockLog`. @returns the last sequence before them */
export async function moveLastSequence(transaction: DatabaseTransaction, by: number): Promise<number> {
  const moved = await transaction
    .updateTable('event_log')
    .set({ last_sequence: sql<number>`last_sequence + ${by}` })
    .returning('last_sequence')
    .executeTakeFirstOrThrow()
  return moved.last_sequence - by
}

/** The identities of the canonical events in the blocks of some events. */
export async function canonicalIdentities(
  database: Database,
  chainId: number,
  events: readonly EventWithPosition[],
): Promise<ReadonlySet<string>> {
  const blocks = [...new Set(events.map(({ event }) => event.blockNumber))]
  if (blocks.length === 0) return new Set()
  const rows = await database
    .selectFrom('events')
    .select(['block_number', 'type', 'order_id'])
    .where('chain_id', '=', chainId)
    .where('block_number', 'in', blocks)
    .where('is_canonical', '=', 1)
    .execute()
  return new Set(rows.map((row) => `${row.block_number} ${row.type} ${row.order_id}`))
}

/** Identifies an event: an order has one of each type. Log indices differ, because nodes count a block's logs differently. */
export function identityOf({ event }: EventWithPosition): string {
  return `${event.blockNumber} ${event.type} ${event.orderId}`
}

/** Takes the events of a chain out of the reach of reorganisations: another contract is read from now on. */
export async function settle(transaction: DatabaseTransaction, chainId: number): Promise<void> {
  await transaction
    .updateTable('events')
    .set({ is_canonical: 0 })
    .where('chain_id', '=', chainId)
    .where('is_canonical', '=', 1)
    .execute()
}

/** Marks the events of all blocks above a number as removed. @returns their rows, the latest first */
export async function markRemoved(
  database: Database,
  chainId: number,
  aboveBlock: number,
): Promise<EventRow[]> {
  const removed = await database
    .selectFrom('events')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('block_number', '>', aboveBlock)
    .where('is_canonical', '=', 1)
    .orderBy('sequence', 'desc')
    .execute()
  await database
    .updateTable('events')
    .set({ is_canonical: 0 })
    .where('chain_id', '=', chainId)
    .where('block_number', '>', aboveBlock)
    .where('is_canonical', '=', 1)
    .execute()
  return removed
}

/** Removes the entries before a sequence. The log then begins after it. */
export function removeThrough(database: Database, sequence: number): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('event_log')
      .set({ pruned_sequence: sequence })
      .where('pruned_sequence', '<', sequence)
      .execute()
    await transaction.deleteFrom('events').where('sequence', '<', sequence).execute()
  })
}

/** The last blocks of a chain with canonical events below a number: at most `limit`, the oldest first. */
export async function readEventBlocks(
  database: Database,
  chainId: number,
  below: number,
  limit: number,
): Promise<BlockRef[]> {
  const rows = await database
    .selectFrom('events')
    .select(['block_number', 'block_hash'])
    .distinct()
    .where('chain_id', '=', chainId)
    .where('block_number', '<', below)
    .where('is_canonical', '=', 1)
    .orderBy('block_number', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ number: row.block_number, hash: row.block_hash as Hex })).reverse()
}

/** A write that changes nothing. */
export async function probeWrites(database: Database): Promise<void> {
  await database.updateTable('event_log').set({ last_sequence: sql<number>`last_sequence` }).execute()
}
