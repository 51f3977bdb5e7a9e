import type { Cluster } from '../domain/cluster.js'
import type { BondStore } from './bond-store.js'
import type { CircuitBreakerStore } from './circuit-breaker-store.js'
import type { EventStore } from './event-store.js'
import type { QuoteRecordStore } from './quote-record-store.js'
import type { RateLimitCounters } from './rate-limit-counters.js'
import type { SolverStore } from './solver-store.js'

/** All that is kept, and those who share it. */
export interface Stores {
  readonly solvers: SolverStore
  readonly bonds: BondStore
  readonly events: EventStore
  readonly circuitBreakers: CircuitBreakerStore
  /** Undefined where no records of quotes are kept. */
  readonly quoteRecords: QuoteRecordStore | undefined
  /** Encrypts the ids that solvers are asked under: 16 bytes, the same for all replicas. */
  readonly recordKey: Uint8Array
  /** Counts of clients' requests that replicas share; undefined where each counts for itself. */
  readonly limiterOf: RateLimitCounters['limiterOf'] | undefined
  readonly cluster: Cluster
  close(): Promise<void>
}
