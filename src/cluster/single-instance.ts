import type { Cluster } from '../domain/cluster.js'

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
