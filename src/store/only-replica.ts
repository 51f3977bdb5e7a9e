import type { Replicas } from '../domain/replicas.js'

/**
 * The only replica that there is: it holds every office.
 * @param isDatabaseUp whether its database can be used
 */
export function createOnlyReplica(isDatabaseUp: () => boolean = () => true): Replicas {
  return {
    isDatabaseUp: isDatabaseUp,
    listen() {},
    tell() {},
    async campaign(_office, { onElected }) {
      onElected()
    },
    async close() {},
  }
}
