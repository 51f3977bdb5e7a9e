import { systemClock } from '../../packages/protocol/src/clock.js'
import { recoveryLibrary } from '../../packages/protocol/src/signing/signatures.js'
import { createDeadlineTime } from '../chain/chain.js'
import { createProvenTime, openChains } from '../chain/chains.js'
import { createOrderCaches } from '../chain/contract/order-cache.js'
import { openInstance } from '../cluster/open-instance.js'
import type { Config } from '../config/config.js'
import { version } from '../config/version.js'
import { openEventLog } from '../events/event-log.js'
import { startReplicaListener } from '../http/replica-server.js'
import { createNonceRetention } from '../solvers/nonces/nonce-retention.js'
import { createUsedNonces, followCancellations } from '../solvers/nonces/used-nonces.js'
import { createSolverDirectory } from '../solvers/registry/solver-directory.js'
import { startRetention } from '../store/retention.js'
import { createLog } from '../telemetry/log.js'
import { createMetrics } from '../telemetry/metrics.js'
import { watchOpenFiles } from '../telemetry/open-files.js'
import { openServer } from './open-server.js'
import { type AppOverrides, openSolvers, type Started } from './open-solvers.js'

export type { AppOverrides }

const STRANGERS_INTERVAL_MS = 60_000

/** A running service. */
export interface App {
  /** Base URL of the service. */
  readonly url: string
  /**
   * Stops accepting connections, waits for requests under way, at most `graceMs` after the drain, and frees all resources.
   * @param options `drainMs`: time for which requests on idle connections are still answered; 0 by default
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/**
 * Builds and starts the whole service in the order of its dependencies. When a step fails, it closes the earlier parts.
 * @throws ConfigError when the chains, the database or the port do not match the configuration
 */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { clock = systemClock, log = createLog(config.logLevel) } = overrides
  if (recoveryLibrary === 'javascript')
    log.warn(
      'no libsecp256k1 can be loaded: signatures are recovered in JavaScript, which takes thirty times as long',
    )
  else log.info({ library: recoveryLibrary }, 'signatures are recovered by libsecp256k1')
  if (config.solverSessions && config.production && config.publicUrls.length === 0)
    log.info('PUBLIC_URLS is not set, which solver sessions need in production: none will be opened')
  for (const { variable, message } of config.warnings) log.warn({ variable }, `${variable} ${message}`)
  const started: Started = []
  let drainMs = 0
  const close: App['close'] = async (options) => {
    drainMs = options?.drainMs ?? 0
    for (const stop of started.toReversed()) await stop()
  }

  async function start(): Promise<string> {
    const stopWatch = watchOpenFiles(log, clock)
    started.push(async () => stopWatch())
    const metrics = createMetrics()
    metrics.recovery.set({ library: recoveryLibrary }, 1)
    const instance = await openInstance({
      ...config,
      leaseMs: overrides.replicaLeaseMs,
      onDropped: (topic) => metrics.droppedMessages.inc({ topic }),
      clock,
      log,
    })
    started.push(instance.close)
    const { stores, cluster } = instance
    const shared = { config, instance, metrics, clock, log }
    const orderCaches = createOrderCaches(config.chains.map(({ chainId }) => chainId))
    const usedNonces = createUsedNonces(shared)
    started.push(usedNonces.close)
    const eventLog = await openEventLog(shared, (event) => {
      orderCaches.invalidate(event)
      usedNonces.onEvent(event)
    })
    started.push(eventLog.close)
    await usedNonces.load()
    const directory = await createSolverDirectory(shared)
    started.push(directory.close)
    const { eventSinkOf } = eventLog
    const orderStore = stores.orders
    const chains = await openChains(
      config.chains,
      { ...config, eventSinkOf, orderCaches, orderStore, cluster, metrics, clock, log },
      // Before the blocks since the last stop are read.
      (chain) => followCancellations(chain, directory.registered, usedNonces),
    )
    started.push(async () => void (await Promise.all([...chains.values()].map((chain) => chain.close()))))
    const removeNonces = createNonceRetention(
      stores.offerNonces,
      chains.values(),
      config.maxReorgDepth,
      metrics,
    )
    const pruneSome = async () => {
      if (await removeNonces()) return true
      const bytes = await stores.rateLimitBytes?.()
      if (bytes !== undefined) metrics.tableBytes.set({ table: 'rate_limits' }, bytes)
      return false
    }
    const intervalMs = STRANGERS_INTERVAL_MS
    started.push(startRetention({ pruneSome, what: 'what strangers have left', intervalMs, clock, log }))
    const deadlineTime = createDeadlineTime(chains, clock.now)
    const provenTime = createProvenTime(chains, clock.now)
    const context = { ...shared, chains, deadlineTime, provenTime, directory, eventLog, usedNonces }
    const solvers = await openSolvers(context, overrides, started)
    started.push(await startReplicaListener(context, solvers.sessions))
    const server = await openServer(context, solvers, started, () => drainMs)
    return server.listen()
  }

  try {
    const url = await start()
    log.info({ url, version, chains: config.chains.map(({ chainId }) => chainId) }, 'listening')
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}
