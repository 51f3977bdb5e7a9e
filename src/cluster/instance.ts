import type { Clock } from '../../packages/protocol/src/clock.js'
import type { Config, RateLimitStore } from '../config/config.js'
import type { Stores, StoresOptions } from '../store/stores.js'
import type { Topic } from '../store/topics.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Cluster } from './cluster.js'

/** How the other replicas of an instance ask this one (docs/decisions.md, D18). */
export interface ReplicaIdentity {
  /** A UUID of this process. */
  readonly id: string
  /** The key that signs requests between replicas: 32 bytes. */
  readonly key: Uint8Array
  /** Stores the origin at which the other replicas ask this one. */
  publishUrl(url: string): Promise<void>
}

/** What the replicas of an instance share. */
export interface Instance {
  readonly stores: Stores
  readonly cluster: Cluster
  /** This replica; undefined for a database of one process. */
  readonly replica?: ReplicaIdentity | undefined
  close(): Promise<void>
}

/** What an instance is opened with. */
export interface InstanceOptions extends StoresOptions {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** URL of the PostgreSQL that replicas share; undefined for a file. */
  readonly databaseUrl: string | undefined
  /** Time for which a replica without a sign of life keeps its solver sessions; 10 s when undefined. */
  readonly leaseMs?: number | undefined
  readonly rateLimitStore: RateLimitStore
  /** Called with the topic of a message between replicas that does not have its form. */
  readonly onDropped: (topic: Topic) => void
}

/** What the parts of the service share from its start on. */
export interface InstanceContext {
  readonly config: Config
  readonly instance: Instance
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
}
