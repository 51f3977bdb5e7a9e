import { ConfigError } from '../config/environment.js'
import { UnknownSchemaError } from '../store/database.js'
import { LEASE_MS, startLeaseRenewal } from '../store/postgres/lease-renewal.js'
import { assertPooledBySession, createConnectionPool } from '../store/postgres/postgres.js'
import { openPostgresStores, type PostgresStoresOptions } from '../store/postgres/postgres-stores.js'
import type { Logger } from '../telemetry/log.js'
import type { Cluster } from './cluster.js'
import { createDedicatedConnection } from './dedicated-connection.js'
import type { Instance } from './instance.js'
import { createLeaderElection } from './leader-election.js'
import { createMessageBus } from './message-bus.js'

type ReplicaOptions = Omit<PostgresStoresOptions, 'pool' | 'isReachable' | 'leaseMs'> & {
  /** See `PostgresStoresOptions`; 10 s when undefined. */
  readonly leaseMs?: number | undefined
}

/**
 * Opens the stores that replicas share in PostgreSQL, and connects this replica to the others. When its connection to
 * them is lost, the connections of the stores are replaced too. Its lease lasts until its end.
 * @throws ConfigError when PostgreSQL cannot be reached, rejects the user, is pooled by transaction, or has the tables
 * of another version
 */
export async function openReplica(options: ReplicaOptions): Promise<Instance> {
  const { databaseUrl, leaseMs = LEASE_MS, log } = options
  const pool = createConnectionPool(databaseUrl)
  const opened = [pool.close]
  const close = async () => {
    for (const end of opened.toReversed()) await end()
  }
  try {
    await assertPooledBySession(databaseUrl)
    const cluster = await connectCluster(databaseUrl, pool.renew, log)
    opened.push(cluster.close)
    const stores = await openPostgresStores({ ...options, leaseMs, pool, isReachable: cluster.isDatabaseUp })
    opened.push(stores.close)
    opened.push(await startLeaseRenewal({ lease: stores.lease, leaseMs, log }))
    const isDatabaseUp = () => cluster.isDatabaseUp() && stores.isUp()
    const replica = { id: stores.replicaId, key: stores.replicaKey, publishUrl: stores.lease.publishUrl }
    return { stores, cluster: { ...cluster, isDatabaseUp }, replica, close }
  } catch (error) {
    await close()
    throw toConfigError(error)
  }
}

function toConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error
  const message =
    error instanceof UnknownSchemaError
      ? `names a database that ${error.message}`
      : `cannot be used: ${connectReasonOf(error)}. It must name a PostgreSQL that answers and accepts its user`
  return new ConfigError([{ variable: 'DATABASE_URL', message }])
}

/** For a name with several addresses, the error of each address. */
function connectReasonOf(error: unknown): string {
  return error instanceof AggregateError
    ? error.errors.map(connectReasonOf).join(', ')
    : (error as Error).message
}

/**
 * Connects this replica to the others on a database. Its one connection receives their messages and holds the locks of
 * its leaderships. When the connection is lost, this replica is no leader any more and connects again.
 * @param onLost called when the connection is lost, after the leaderships
 * @throws pg's error when the first connection fails
 */
export async function connectCluster(databaseUrl: string, onLost: () => void, log: Logger): Promise<Cluster> {
  const connection = createDedicatedConnection(databaseUrl, log)
  const bus = createMessageBus(connection, log)
  const election = createLeaderElection(connection)
  await connection.open({
    channels: bus.channels,
    onNotification: bus.receive,
    onLost() {
      election.stepDown()
      onLost()
    },
    onReconnected() {
      bus.reportMissed()
      void election.tryNow()
    },
  })
  election.start()
  return {
    isDatabaseUp: connection.isUp,
    listen: bus.listen,
    publish: bus.publish,
    acquire: election.acquire,
    close() {
      election.close()
      return connection.close()
    },
  }
}
