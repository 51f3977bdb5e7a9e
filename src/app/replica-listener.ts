import type { Instance } from '../cluster/instance.js'
import { createReplicaVerifier } from '../cluster/replica-signature.js'
import type { Config } from '../config/config.js'
import { startReplicaServer } from '../http/replica-server.js'
import { createRelayedRequests } from '../sessions/relayed-requests.js'
import type { Sessions } from '../sessions/sessions.js'
import type { Logger } from '../telemetry/log.js'

interface ListenerOptions {
  readonly config: Pick<Config, 'host' | 'replicaAccess'>
  readonly instance: Pick<Instance, 'replica'>
  readonly sessions: Sessions
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/**
 * Listens for requests of the other replicas, and makes known where (docs/decisions.md, D18). Does nothing without
 * REPLICA_URL.
 * @returns a function that ends the listener
 * @throws ConfigError when the port cannot be opened
 */
export async function startReplicaListener(options: ListenerOptions): Promise<() => Promise<void>> {
  const { config, instance, sessions, now, log } = options
  const { replica } = instance
  const { replicaAccess: access } = config
  if (replica === undefined || access === undefined) return async () => {}
  const server = await startReplicaServer({
    host: config.host,
    port: access.port,
    verify: createReplicaVerifier({ replicaId: replica.id, key: replica.key, now }),
    answer: createRelayedRequests(sessions),
    log,
  })
  const url = new URL(access.url)
  if (access.port === 0) url.port = String(server.port)
  try {
    await replica.publishUrl(url.origin)
  } catch (error) {
    await server.close()
    throw error
  }
  log.info(
    { replicaId: replica.id, replicaUrl: url.origin },
    'other replicas ask the solver sessions of this one',
  )
  return server.close
}
