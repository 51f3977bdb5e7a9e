import type { BondStore } from './bond-store.js'
import type { CircuitBreakerStore } from './circuit-breaker-store.js'
import type { EventStore } from './event-store.js'
import type { OfferNonceStore } from './offer-nonce-store.js'
import type { OrderStore } from './order-store.js'
import type { QuoteRecordStore } from './quote-record-store.js'
import type { RateLimitCounters } from './rate-limit-counters.js'
import type { SolverHourStore } from './solver-hour-store.js'
import type { SolverOrderStore } from './solver-order-store.js'
import type { SolverStore } from './solver-store.js'

/** The stores of an instance. */
export interface Stores {
  readonly solvers: SolverStore
  readonly bonds: BondStore
  readonly events: EventStore
  readonly orders: OrderStore
  readonly solverOrders: SolverOrderStore
  readonly solverHours: SolverHourStore
  readonly circuitBreakers: CircuitBreakerStore
  readonly offerNonces: OfferNonceStore
  /** Undefined when no records of quotes are kept. */
  readonly quoteRecords: QuoteRecordStore | undefined
  /** Encrypts quote ids for solvers: 16 bytes, the same for all replicas. */
  readonly recordKey: Uint8Array
  /** Request counts that replicas share; undefined when each replica counts for itself. */
  readonly limiterOf: RateLimitCounters['limiterOf'] | undefined
  /** Whether the database takes writes, as far as it can be reached. */
  isUp(): boolean
  close(): Promise<void>
}
