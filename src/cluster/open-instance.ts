import type { Cluster } from './cluster.js'
import type { Instance, InstanceOptions } from './instance.js'

/**
 * Opens the database, migrates its tables, and connects this replica to the others. It loads only the code for the
 * database in use.
 * @throws ConfigError when the database cannot be used, another service uses its file, or another version wrote it
 */
export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const { databaseUrl } = options
  if (databaseUrl === undefined) {
    const { openSqliteStores } = await import('../store/sqlite/sqlite-stores.js')
    const stores = await openSqliteStores(options)
    return { stores, cluster: createSingleInstance(stores.isUp), close: stores.close }
  }
  const { openReplica } = await import('./open-replica.js')
  return openReplica(databaseUrl, options)
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
