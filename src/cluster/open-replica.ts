import { ConfigError } from '../config/environment.js'
import { UnusableTablesError } from '../store/database.js'
import { LEASE_MS, startLeaseRenewal } from '../store/postgres/lease-renewal.js'
import { assertPooledBySession, createConnectionPool, isOfServer } from '../store/postgres/postgres.js'
import { openPostgresStores } from '../store/postgres/postgres-stores.js'
import type { Cluster } from './cluster.js'
import { createDedicatedConnection } from './dedicated-connection.js'
import type { Instance, InstanceOptions } from './instance.js'
import { createLeaderElection } from './leader-election.js'
import { createMessageBus, type MessageBus } from './message-bus.js'

type PostgresCluster = Cluster & Pick<MessageBus, 'tellMissed'>

interface ClusterOptions extends Pick<InstanceOptions, 'onDropped' | 'clock' | 'log'> {
  /** Called when the connection is lost, after the leaderships. */
  readonly onLost: () => void
}

/** A database that has just been started, or that many start to use at once, answers soon. */
const TRIES = 3
const PAUSE_MS = 1000

/**
 * Opens the stores that replicas share in PostgreSQL, and connects this replica to the others. When its connection to
 * them is lost, the connections of the stores are replaced too. Its lease lasts until its end.
 * @throws ConfigError when PostgreSQL cannot be reached, rejects the user, is pooled by transaction, or has the tables
 * of another version
 */
export async function openReplica(databaseUrl: string, options: InstanceOptions): Promise<Instance> {
  for (let tries = 1; ; tries++) {
    try {
      return await openOnce(databaseUrl, options)
    } catch (error) {
      const isPassing = !(error instanceof ConfigError || error instanceof UnusableTablesError)
      if (tries === TRIES || !isPassing || !isOfServer(error as Error)) throw toConfigError(error)
      options.log.warn({ reason: connectReasonOf(error) }, 'the database cannot be used yet: trying again')
      await options.clock.sleep(PAUSE_MS)
    }
  }
}

async function openOnce(databaseUrl: string, options: InstanceOptions): Promise<Instance> {
  const { leaseMs = LEASE_MS, clock, log } = options
  let cluster: PostgresCluster | undefined
  const pool = createConnectionPool(databaseUrl, (error) => cluster?.tellMissed(error))
  const opened = [pool.close]
  const close = async () => {
    for (const end of opened.toReversed()) await end()
  }
  try {
    await assertPooledBySession(databaseUrl)
    const isReachable = () => cluster?.isDatabaseUp() !== false
    const stores = await openPostgresStores({ ...options, databaseUrl, leaseMs, pool, isReachable })
    opened.push(stores.close)
    const connected = await connectCluster(databaseUrl, { ...options, onLost: pool.renew })
    cluster = connected
    opened.push(connected.close)
    opened.push(await startLeaseRenewal(stores.lease, leaseMs, clock, log))
    const isDatabaseUp = () => connected.isDatabaseUp() && stores.isUp()
    const replica = { id: stores.replicaId, key: stores.replicaKey, publishUrl: stores.lease.publishUrl }
    return { stores, cluster: { ...connected, isDatabaseUp }, replica, close }
  } catch (error) {
    await close()
    throw error
  }
}

function toConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error
  const message =
    error instanceof UnusableTablesError
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
 * Connects this replica to the others on a database with tables. Its one connection receives their messages and holds the
 * locks of its leaderships. When the connection is lost, this replica is no leader any more and connects again.
 * @throws pg's error when the first connection fails
 */
export async function connectCluster(
  databaseUrl: string,
  { onLost, onDropped, clock, log }: ClusterOptions,
): Promise<PostgresCluster> {
  const connection = createDedicatedConnection(databaseUrl, clock, log)
  const bus = createMessageBus(connection, onDropped, clock, log)
  const election = createLeaderElection(connection, clock)
  await connection.open({
    topics: bus.topics,
    onNotification: bus.receive,
    onRefused: bus.tellMissed,
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
    tellMissed: bus.tellMissed,
    acquire: election.acquire,
    async close() {
      election.close()
      await bus.close()
      await connection.close()
    },
  }
}
