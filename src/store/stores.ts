import { type Database, UnusableTablesError } from './database.js'
import type { EventStore } from './events/event-store.js'
import type { ApiKeyStore } from './operator/api-key-store.js'
import type { OrderStore } from './orders/order-store.js'
import type { SolverOrderStore } from './orders/solver-order-store.js'
import type { RateLimitCounters } from './postgres/rate-limit-counters.js'
import type { QuoteRecordStore } from './records/quote-record-store.js'
import type { BondStore } from './solvers/bond-store.js'
import type { OfferNonceStore } from './solvers/offer-nonce-store.js'
import type { SolverHourStore } from './solvers/solver-hour-store.js'
import type { SolverStore } from './solvers/solver-store.js'

/** The stores of an instance. */
export interface Stores {
  readonly solvers: SolverStore
  readonly bonds: BondStore
  readonly events: EventStore
  readonly orders: OrderStore
  readonly solverOrders: SolverOrderStore
  readonly solverHours: SolverHourStore
  readonly offerNonces: OfferNonceStore
  readonly apiKeys: ApiKeyStore
  /** Undefined when no records of quotes are kept. */
  readonly quoteRecords: QuoteRecordStore | undefined
  /** Encrypts quote ids for solvers: 16 bytes, the same for all replicas. */
  readonly recordKey: Uint8Array
  /** Request counts that replicas share; undefined when each replica counts for itself. */
  readonly limiterOf: RateLimitCounters['limiterOf'] | undefined
  /** The bytes of these counts; undefined when each replica counts for itself. */
  readonly rateLimitBytes: RateLimitCounters['usedBytes'] | undefined
  /** Whether the database takes writes, as far as it can be reached. */
  isUp(): boolean
  close(): Promise<void>
}

/**
 * Reads the instance's key, which encrypts quote ids for solvers (docs/decisions.md, D15).
 * @returns 16 bytes @throws UnusableTablesError when there is none
 */
export async function readRecordKey(database: Database): Promise<Uint8Array> {
  const row = await database.selectFrom('record_keys').select('record_key').executeTakeFirst()
  return readKey('record_keys', row?.record_key, 16)
}

/**
 * Reads the key with which the replicas of an instance sign their requests to each other (docs/decisions.md, D18).
 * @returns 32 bytes @throws UnusableTablesError when there is none
 */
export async function readReplicaKey(database: Database): Promise<Uint8Array> {
  const row = await database.selectFrom('replica_keys').select('replica_key').executeTakeFirst()
  return readKey('replica_keys', row?.replica_key, 32)
}

/** Operators rotate these keys by hand. Of other text, Node would read fewer bytes, or none: everyone could sign with such a key. */
function readKey(table: string, text: string | undefined, bytes: number): Uint8Array {
  const key = Buffer.from(text ?? '', 'hex')
  if (key.length === bytes && text?.length === 2 * bytes) return key
  throw new UnusableTablesError(`has no key of ${2 * bytes} hexadecimal digits in ${table}`)
}
