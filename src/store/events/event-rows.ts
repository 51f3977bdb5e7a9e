import { hash } from 'node:crypto'
import type { Insertable, Selectable } from 'kysely'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import {
  type LogEntry,
  ORDER_EVENT_FIELDS,
  type OrderEvent,
  type OrderEventType,
  type StreamEvent,
} from '../../../packages/protocol/src/orders/event.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Schema } from '../schema.js'

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
