import type { Clock } from '../../packages/protocol/src/clock.js'
import type { Logger } from '../telemetry/log.js'
import { type Coordination, type Database, UnusableTablesError } from './database.js'
import { createEventStore, type EventStore } from './events/event-store.js'
import { type ApiKeyStore, createApiKeyStore } from './operator/api-key-store.js'
import { createOrderStore, type OrderStore } from './orders/order-store.js'
import { createSolverOrderStore, type SolverOrderStore } from './orders/solver-order-store.js'
import type { RateLimitCounters } from './postgres/rate-limit-counters.js'
import type { SessionHolder } from './postgres/replica-lease.js'
import type { QuoteRecordStore } from './records/quote-record-table.js'
import { type BondStore, createBondStore } from './solvers/bond-store.js'
import { createOfferNonceStore, type OfferNonceStore } from './solvers/offer-nonce-store.js'
import { createSolverHourStore, type SolverHourStore } from './solvers/solver-hour-store.js'
import { createSolverStore, type SolverStore } from './solvers/solver-store.js'

/** What both kinds of databases are opened with. */
export interface StoresOptions {
  /** Time for which records of quotes are kept; 0 keeps none. */
  readonly quoteRecordHours: number
  /** Most bytes of all records. */
  readonly quoteRecordMaxBytes: number
  /** Only addresses on the operator's list of allowed ones may register. */
  readonly solverAllowlist: boolean
  readonly clock: Clock
  readonly log: Logger
}

/** The stores of the main tables, the same of both kinds of databases. */
interface MainStores {
  readonly solvers: SolverStore
  readonly bonds: BondStore
  readonly events: EventStore
  readonly orders: OrderStore
  readonly solverOrders: SolverOrderStore
  readonly solverHours: SolverHourStore
  readonly offerNonces: OfferNonceStore
  readonly apiKeys: ApiKeyStore
}

/** The stores of an instance. */
export interface Stores extends MainStores {
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
 * Builds the stores of the main tables.
 * @param guard wraps each, so that its errors name the database as their cause
 */
export function createMainStores(
  database: Database,
  coordination: Coordination,
  holder: SessionHolder,
  { solverAllowlist, clock }: StoresOptions,
  guard: <S extends object>(store: S) => S,
): MainStores {
  return {
    solvers: guard(createSolverStore(database, coordination, holder, solverAllowlist)),
    bonds: guard(createBondStore(database, coordination)),
    events: guard(createEventStore(database, clock.now, coordination)),
    orders: guard(createOrderStore(database)),
    solverOrders: guard(createSolverOrderStore(database)),
    solverHours: guard(createSolverHourStore(database)),
    offerNonces: guard(createOfferNonceStore(database)),
    apiKeys: guard(createApiKeyStore(database)),
  }
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
