import { closeChains, collectChainMetrics, openChains } from './chain/chains.js'
import { createOrderCaches } from './chain/order-cache.js'
import { openInstance } from './cluster/open-instance.js'
import type { Config } from './config.js'
import { openEventLog } from './events/event-log.js'
import { registerHealth } from './http/health.js'
import { registerMetrics } from './http/metrics-route.js'
import { registerReference } from './http/openapi/routes.js'
import { createHttpServer } from './http/server.js'
import { createContractRules } from './quoting/contract-rules.js'
import { openQuoting } from './quoting/quoting.js'
import { createChainService } from './rpc/chain-service.js'
import { createEventStreams } from './rpc/event-streams.js'
import { createHealth } from './rpc/health.js'
import { widestKeyOf } from './rpc/identify-client.js'
import { limitMessages } from './rpc/message-limit.js'
import { createMiddleware } from './rpc/middleware.js'
import { createOrderService } from './rpc/order-service.js'
import { createPriceService } from './rpc/price-service.js'
import { createQuoteService } from './rpc/quote-service.js'
import { createQuoteStreams } from './rpc/quote-streams.js'
import { createRateLimits } from './rpc/rate-limits.js'
import { createReadQuote } from './rpc/read-quote.js'
import { createReflection } from './rpc/reflection.js'
import { createSolverService } from './rpc/solver-service.js'
import { createSolverSessions } from './rpc/solver-sessions.js'
import { createStreamSlots, STREAM_LIMITS } from './rpc/stream-slots.js'
import { useFastTextEncoding } from './rpc/text-encoding.js'
import { createSessions } from './sessions/sessions.js'
import { isNativeRecovery } from './signing/recover.js'
import { startBondWatch } from './solvers/bond-watch.js'
import { createEndpointGuard } from './solvers/endpoint-guard.js'
import { createFreeBonds } from './solvers/free-bonds.js'
import type { ResolveAll } from './solvers/name-resolution.js'
import { createRegisterSolver } from './solvers/register-solver.js'
import { createSessionRegistrations } from './solvers/session-registrations.js'
import { createSolverDirectory } from './solvers/solver-directory.js'
import { collectSolverMetrics } from './solvers/solver-metrics.js'
import { createUnregisterSolver } from './solvers/unregister-solver.js'
import { createUsedNonces } from './solvers/used-nonces.js'
import { createLog, type Logger } from './telemetry/log.js'
import { createMetrics } from './telemetry/metrics.js'
import { createRequestCounters } from './telemetry/request-counters.js'
import { version } from './version.js'

/** Replacements for tests. */
export interface AppOverrides {
  /** The clock: Unix time in milliseconds. */
  readonly now?: () => number
  /** The monotonic clock of the solvers' health and nonces, in milliseconds. */
  readonly clock?: () => number
  readonly log?: Logger
  readonly resolveAll?: ResolveAll
  /** The name servers as `ip:port`. */
  readonly nameServers?: readonly string[]
  /** Interval of the pings of solver sessions, in milliseconds. */
  readonly sessionHeartbeatMs?: number
  /** Time for which a replica without a sign of life keeps its solver sessions, in milliseconds. */
  readonly replicaLeaseMs?: number
}

/** A running service. */
export interface App {
  /** Base URL of the service. */
  readonly url: string
  /**
   * Stops accepting connections, waits at most 10 s for requests under way, and frees all resources.
   * @param options `drainMs`: time for which requests on idle connections are still answered; 0 by default
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

const GRACE_MS = 10_000
const HEALTH_WATCH_MS = 1000
const MAX_HEALTH_WATCHERS = 1000
const MAX_HEALTH_WATCHERS_PER_CLIENT = 20

/**
 * Builds and starts the whole service in the order of its dependencies. When a step fails, it closes the earlier parts.
 * @throws ConfigError when the chains, the database or the port do not match the configuration
 */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { now = Date.now, log = createLog(config.logLevel) } = overrides
  if (!isNativeRecovery)
    log.warn('libsecp256k1 could not be loaded: signatures are recovered in slow JavaScript')
  if (config.solverSessions && config.production && config.publicUrls.length === 0)
    log.info('PUBLIC_URLS is not set, which solver sessions need in production: none will be opened')
  useFastTextEncoding()
  const started: (() => Promise<void>)[] = []
  let drainMs = 0
  const close: App['close'] = async (options) => {
    drainMs = options?.drainMs ?? 0
    for (const stop of started.toReversed()) await stop()
  }

  async function start(): Promise<string> {
    const metrics = createMetrics()
    const shared = { ...config, leaseMs: overrides.replicaLeaseMs, now, log }
    const { stores, cluster, close: closeInstance } = await openInstance(shared)
    started.push(closeInstance)
    const orderCaches = createOrderCaches(config.chains.map(({ chainId }) => chainId))
    const eventLog = await openEventLog({
      ...config,
      store: stores.events,
      cluster,
      onEvent: orderCaches.invalidate,
      metrics,
      log,
      now,
    })
    started.push(eventLog.close)
    const { eventSinkOf } = eventLog
    const chains = await openChains(config.chains, {
      ...config,
      eventSinkOf,
      orderCaches,
      orderStore: stores.orders,
      cluster,
      metrics,
      log,
    })
    started.push(() => closeChains(chains))

    const endpointGuard = createEndpointGuard({
      production: config.production,
      allowlist: config.solverEndpointAllowlist,
      resolveAll: overrides.resolveAll,
      nameServers: overrides.nameServers,
    })
    const supportedChains = [...chains.keys()]
    const freeBonds = await createFreeBonds({ store: stores.bonds, chainIds: supportedChains })
    const store = stores.solvers
    const directory = await createSolverDirectory({ store, cluster, chainIds: supportedChains, log })
    started.push(directory.close)
    const solvers = { ...config, store, directory, chains, now, log }
    const bondWatch = startBondWatch({ ...solvers, freeBonds, cluster })
    started.push(bondWatch.close)
    const register = createRegisterSolver({ ...solvers, bondWatch, endpointGuard })
    const unregister = createUnregisterSolver(solvers)
    const registrations = createSessionRegistrations({ ...solvers, bondWatch })
    started.push(registrations.close)
    const sessions = createSessions({
      config,
      registrations,
      directory,
      isBlocked: store.isBlocked,
      eventLog,
      heartbeatMs: overrides.sessionHeartbeatMs,
      metrics,
      log,
      now,
    })
    const clock = overrides.clock ?? (() => performance.now())
    const usedNonces = createUsedNonces({ ...config, chains, directory, cluster, clock, log })
    started.push(async () => usedNonces.close())
    const quoting = await openQuoting({
      config,
      chains,
      directory,
      rules: createContractRules({ chains, freeBonds, bondWatch, usedNonces }),
      endpointGuard,
      sessions,
      circuitBreakerStore: stores.circuitBreakers,
      quoteRecordStore: stores.quoteRecords,
      recordKey: stores.recordKey,
      clientKeyOf: widestKeyOf,
      clock,
      now,
      metrics,
      log,
    })
    started.push(quoting.close)

    const rateLimits = createRateLimits(config.rateLimits, {
      limiterOf: stores.limiterOf,
      onRejected: (limit) => metrics.rateLimited.inc({ limit }),
    })
    const counter = createRequestCounters(metrics)
    const guard = createMiddleware({ supportedChains, rateLimits, counter, log })
    const readQuote = createReadQuote({ ...config, now })
    const methods = [
      ...createQuoteService({ ...quoting, readQuote }),
      ...createPriceService(quoting),
      ...createSolverService({ ...quoting, register, unregister, directory, metrics }),
      ...createOrderService({ chains, orders: stores.orders }),
      ...createChainService({ config, chains, directory }),
    ].map(guard)
    // So that the first rejection already shows as an increase.
    for (const limit of STREAM_LIMITS) metrics.streamRejections.inc({ limit }, 0)
    const slots = createStreamSlots({
      ...config,
      onRejected: (limit) => metrics.streamRejections.inc({ limit }),
    })
    const streams = createEventStreams({ eventLog, supportedChains, rateLimits, slots, metrics, log })
    const quoteStreams = createQuoteStreams({
      ...quoting,
      readQuote,
      supportedChains,
      rateLimits,
      slots,
      metrics,
      log,
    })
    const solverSessions = createSolverSessions({ sessions, supportedChains, rateLimits, metrics })
    const services = [...new Set([...methods, quoteStreams, streams].map(({ desc }) => desc.parent))]
    const health = createHealth({
      services: services.map(({ typeName }) => typeName),
      isServing: () => [...chains.values()].some((chain) => chain.status().status !== 'down'),
      watchIntervalMs: HEALTH_WATCH_MS,
      maxWatchers: MAX_HEALTH_WATCHERS,
      maxWatchersPerClient: MAX_HEALTH_WATCHERS_PER_CLIENT,
    })
    const reflection = createReflection([...services, health.desc], [limitMessages(rateLimits)])
    const server = await createHttpServer({
      config,
      methods,
      streams,
      quoteStreams,
      solverSessions,
      rateLimits,
      addServices: [health.routes, reflection.routes],
      addRoutes(routes) {
        registerReference(routes, {
          version,
          methods: [...methods, quoteStreams].map(({ desc }) => desc),
          stream: streams.desc,
          hasMetricsAuth: config.metricsAuth !== undefined,
        })
        registerHealth(routes, {
          ...health,
          version,
          chains,
          directory,
          isDatabaseUp: cluster.isDatabaseUp,
          now,
        })
        registerMetrics(routes, {
          metrics,
          auth: config.metricsAuth,
          collectMetrics() {
            counter.flush()
            for (const [state, count] of Object.entries(eventLog.replays()))
              metrics.streamReplays.set({ state }, count)
            metrics.databaseUp.set(Number(cluster.isDatabaseUp()))
            collectChainMetrics(chains, metrics)
            sessions.collectMetrics()
            collectSolverMetrics({ chainIds: supportedChains, directory, freeBonds, metrics })
            quoting.collectMetrics(
              new Map(supportedChains.map((chainId) => [chainId, directory.reachable(chainId)])),
            )
          },
        })
      },
      log,
    })
    started.push(() => server.close(GRACE_MS, drainMs))
    started.push(async () => {
      sessions.goAway()
      eventLog.endSubscriptions()
      quoteStreams.shutDown()
    })
    started.push(async () => {
      health.drain()
      reflection.drain()
    })
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
