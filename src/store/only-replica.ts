import type { Replicas } from '../domain/replicas.js'

/** The only replica that there is: it holds every office. */
export function createOnlyReplica(): Replicas {
  return {
    isConnected: () => true,
    listen() {},
    tell() {},
    async campaign(_office, { onElected }) {
      onElected()
    },
    async close() {},
  }
}
