import type { Clock } from '../../packages/protocol/src/clock.js'
import type { Topic } from '../store/topics.js'
import type { Logger } from '../telemetry/log.js'
import type { Cluster } from './cluster.js'
import type { Instance } from './instance.js'

interface InstanceOptions {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** URL of the PostgreSQL that replicas share; undefined for a file. */
  readonly databaseUrl: string | undefined
  /** Time for which a replica without a sign of life keeps its solver sessions; 10 s when undefined. */
  readonly leaseMs?: number | undefined
  readonly rateLimitStore: 'memory' | 'postgres'
  /** Time for which records of quotes are kept; 0 keeps none. */
  readonly quoteRecordHours: number
  /** Most bytes of all records. */
  readonly quoteRecordMaxBytes: number
  /** Only addresses on the operator's list of allowed ones may register. */
  readonly solverAllowlist: boolean
  /** Called with the topic of a message between replicas that does not have its form. */
  readonly onDropped: (topic: Topic) => void
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Opens the database, migrates its tables, and connects this replica to the others. It loads only the code for the
 * database in use.
 * @throws ConfigError when the database cannot be used, another service uses its file, or another version wrote it
 */
export async function openInstance({ dbPath, databaseUrl, ...options }: InstanceOptions): Promise<Instance> {
  if (databaseUrl === undefined) {
    const { openSqliteStores } = await import('../store/sqlite/sqlite-stores.js')
    const stores = await openSqliteStores({ dbPath, ...options })
    return { stores, cluster: createSingleInstance(stores.isUp), close: stores.close }
  }
  const { openReplica } = await import('./open-replica.js')
  return openReplica({ databaseUrl, ...options })
}

/**
 * The cluster of a single replica, which is always the leader.
 * @param isDatabaseUp whether its database can be used
 */
export function createSingleInstance(isDatabaseUp: () => boolean = () => true): Cluster {
  return {
    isDatabaseUp: isDatabaseUp,
    listen() {},
    publish() {},
    async acquire(_name, { onAcquired }) {
      onAcquired()
    },
    async close() {},
  }
}
