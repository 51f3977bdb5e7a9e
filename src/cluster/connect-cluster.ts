import type { Cluster } from '../domain/cluster.js'
import type { Logger } from '../telemetry/log.js'
import { createDedicatedConnection } from './dedicated-connection.js'
import { createLeaderElection } from './leader-election.js'
import { createMessageBus } from './message-bus.js'

interface ClusterOptions {
  readonly databaseUrl: string
  /** Called when the connection is lost, after the leaderships. */
  readonly onLost: () => void
  readonly log: Logger
}

/**
 * Connects this replica to the others on a database. Its one connection receives their messages and holds the locks of
 * its leaderships. When the connection is lost, this replica is no leader any more and connects again.
 * @throws pg's error when the first connection fails
 */
export async function connectCluster({ databaseUrl, onLost, log }: ClusterOptions): Promise<Cluster> {
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
