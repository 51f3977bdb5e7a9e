import { hash } from 'node:crypto'
import type { Insertable, Selectable } from 'kysely'
import { sql } from 'kysely'
import type { BlockRef, EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import {
  type LogEntry,
  ORDER_EVENT_FIELDS,
  type OrderEvent,
  type OrderEventType,
  type StreamEvent,
} from '../../../packages/protocol/src/orders/event.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { type Database, type DatabaseTransaction, forEachBatch } from '../database.js'
import type { Schema } from '../schema.js'

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

/** In `is_canonical`: an event of a contract that the chain no longer has (see `setAside`). */
const SET_ASIDE = 2

/** Sets the canonical events of a chain aside: another contract is read from now on. */
export async function setAside(transaction: DatabaseTransaction, chainId: number): Promise<void> {
  await transaction
    .updateTable('events')
    .set({ is_canonical: SET_ASIDE })
    .where('chain_id', '=', chainId)
    .where('is_canonical', '=', 1)
    .execute()
}

/** Makes those of some events canonical again that are set aside. @returns the others, which the log lacks */
export async function restore(
  transaction: DatabaseTransaction,
  chainId: number,
  events: readonly EventWithPosition[],
): Promise<EventWithPosition[]> {
  const keyOf = (blockHash: string, type: string, orderId: string) => `${blockHash} ${type} ${orderId}`
  const kept = new Map<string, number>()
  await forEachBatch(events, async (part) => {
    const rows = await transaction
      .selectFrom('events')
      .select(['sequence', 'block_hash', 'type', 'order_id'])
      .where('chain_id', '=', chainId)
      .where('is_canonical', '=', sql.lit(SET_ASIDE))
      .where(
        'order_id',
        'in',
        part.map(({ event }) => event.orderId),
      )
      .execute()
    for (const row of rows) kept.set(keyOf(row.block_hash, row.type, row.order_id), row.sequence)
  })
  const sequenceOf = ({ blockHash, event }: EventWithPosition) =>
    kept.get(keyOf(blockHash, event.type, event.orderId))
  const restored = events.map(sequenceOf).filter((sequence) => sequence !== undefined)
  await forEachBatch(restored, (part) =>
    transaction.updateTable('events').set({ is_canonical: 1 }).where('sequence', 'in', part).execute(),
  )
  return events.filter((event) => sequenceOf(event) === undefined)
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

export type EventRow = Selectable<Schema['events']>
export type NewEventRow = Insertable<Schema['events']>

/** The row of an event. */
export function eventRow(sequence: number, source: EventWithPosition, publishedAtMs: number): NewEventRow {
  const { event, blockHash } = source
  return {
    sequence,
    chain_id: event.chainId,
    block_number: event.blockNumber,
    block_hash: blockHash,
    log_index: event.logIndex,
    type: event.type,
    details: JSON.stringify(detailsOf(event)),
    order_id: event.orderId,
    user: event.user,
    solver: event.solver ?? null,
    is_canonical: 1,
    published_at_ms: publishedAtMs,
    transaction_hash: event.transactionHash,
    block_time: event.blockTime,
  }
}

/** The row of the reversion of an event. */
export function reversionRow(sequence: number, reverted: EventRow, publishedAtMs: number): NewEventRow {
  return {
    ...reverted,
    sequence,
    type: 'Reverted',
    details: reversionDetails(reverted.type as OrderEventType),
    is_canonical: 0,
    published_at_ms: publishedAtMs,
  }
}

/** The details of a reversion's row, by which a filter of types finds it. */
export function reversionDetails(event: OrderEventType): string {
  return JSON.stringify({ event })
}

/** Converts a row to a log entry. */
export function logEntryOf(row: EventRow | NewEventRow): LogEntry {
  return { sequence: row.sequence, event: eventOf(row), digest: digestOf(row) }
}

function eventOf(row: EventRow | NewEventRow): StreamEvent {
  const base = {
    chainId: row.chain_id,
    orderId: row.order_id as Hex,
    user: row.user as Address,
    solver: (row.solver ?? undefined) as Address | undefined,
    blockNumber: row.block_number,
    logIndex: row.log_index,
    transactionHash: row.transaction_hash as Hex,
    blockTime: row.block_time,
  }
  return { ...base, ...readDetails(row) } as StreamEvent
}

const DIGEST_LENGTH = 8

/**
 * Distinguishes an entry from all others that could have its sequence. A restored log that grows again publishes even the
 * same event at another time. So the time also stands for all earlier entries.
 */
function digestOf(row: EventRow | NewEventRow): string {
  const { sequence, chain_id, block_hash, log_index, type, published_at_ms } = row
  const text = [sequence, chain_id, block_hash, log_index, type, published_at_ms].join(' ')
  return hash('sha256', text, 'base64url').slice(0, DIGEST_LENGTH)
}

/** What the row has no columns for. Amounts are text, since JSON has no integers of that size. */
function detailsOf(event: OrderEvent): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...event }
  const details = detailFields(event.type)
  return Object.fromEntries(
    details.map(([name, kind]) => [name, kind === 'amount' ? String(values[name]) : values[name]]),
  )
}

function readDetails({ type, details }: Pick<EventRow, 'type' | 'details'>) {
  const values = JSON.parse(details)
  if (type === 'Reverted') return { type, event: values.event as OrderEventType }
  const fields = detailFields(type as OrderEventType).map(([name, kind]) => [
    name,
    kind === 'amount' ? BigInt(values[name]) : values[name],
  ])
  return { type, ...Object.fromEntries(fields) }
}

function detailFields(type: OrderEventType) {
  const { user: _user, solver: _solver, ...fields } = ORDER_EVENT_FIELDS[type]
  return Object.entries(fields)
}
