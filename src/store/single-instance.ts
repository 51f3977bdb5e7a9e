import type { Cluster } from '../domain/cluster.js'

/**
 * The only replica that there is: it holds every office.
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
