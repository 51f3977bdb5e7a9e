import { collectChainMetrics } from '../chain/chains.js'
import { createRecentTrades } from '../chain/tokens/recent-trades.js'
import type { Config } from '../config/config.js'
import { version } from '../config/version.js'
import { registerHealth, registerMetrics } from '../http/monitoring.js'
import { limitOpenResponses, MAX_OPEN_RESPONSES_OF_ALL } from '../http/open-responses.js'
import { createLostPage, readConsole, registerConsole } from '../http/pages/console.js'
import { registerLogos } from '../http/pages/logos.js'
import { redirectToDocs, registerReference } from '../http/pages/reference.js'
import { createHttpServer, type HttpServer } from '../http/server.js'
import { limitMessages, withErrors } from '../rpc/interceptors.js'
import { openKeyRing } from '../rpc/limits/key-ring.js'
import { createRateLimits } from '../rpc/limits/rate-limits.js'
import { createStreamSlots, STREAM_LIMITS } from '../rpc/limits/stream-slots.js'
import { createMiddleware } from '../rpc/middleware.js'
import { createChainHealth, createChainService } from '../rpc/services/chain-service.js'
import { createCheckOfferMethod } from '../rpc/services/check-offer.js'
import type { ServiceContext } from '../rpc/services/context.js'
import { createHealth } from '../rpc/services/health.js'
import { createOrderService } from '../rpc/services/order-service.js'
import { createOwnResultsMethod } from '../rpc/services/own-results.js'
import { createQuoteService, createReadQuote } from '../rpc/services/quote-service.js'
import { createReflection } from '../rpc/services/reflection.js'
import { createSolverService } from '../rpc/services/solver-service.js'
import { createSolverStatsMethods } from '../rpc/services/solver-stats.js'
import { createEventStreams } from '../rpc/streams/event-streams.js'
import { createQuoteStreams } from '../rpc/streams/quote-streams.js'
import { createSolverSessions } from '../rpc/streams/solver-sessions.js'
import { collectSolverMetrics, createOrderMetrics } from '../solvers/statistics/solver-counters.js'
import { TOPICS } from '../store/topics.js'
import type { AppContext, openSolvers, Started } from './open-solvers.js'

const HEALTH_WATCH_MS = 1000
const MAX_HEALTH_WATCHERS = 1000
const MAX_HEALTH_WATCHERS_PER_CLIENT = 20

/**
 * Builds the services and their server, which does not listen yet.
 * @param drainMs gives the time for which requests on idle connections are still answered at the end
 */
export async function openServer(
  app: AppContext,
  solvers: Awaited<ReturnType<typeof openSolvers>>,
  started: Started,
  drainMs: () => number,
): Promise<HttpServer> {
  const { config, chains, directory, eventLog, metrics, clock, log } = app
  const { freeBonds, sessions, relay, statistics, auction } = solvers
  const { stores, cluster } = app.instance
  const supportedChains = [...chains.keys()]
  const rateLimits = createRateLimits(config.rateLimits, clock, {
    limiterOf: stores.limiterOf,
    requireApiKey: config.requireApiKey,
    metrics,
  })
  const keys = await openKeyRing(stores.apiKeys, clock, log)
  started.push(keys.close)
  const guard = createMiddleware(supportedChains, rateLimits, metrics, log)
  const collectOrderMetrics = createOrderMetrics(app, statistics)
  const context: ServiceContext = {
    ...app,
    ...solvers,
    trades: createRecentTrades(app),
  }
  const methods = [
    ...createQuoteService(context),
    createCheckOfferMethod(context),
    ...createSolverService(context),
    ...createSolverStatsMethods(context),
    createOwnResultsMethod(context),
    ...createOrderService(chains, stores.orders),
    ...createChainService(context),
  ].map(guard)
  // So that the first one already shows as an increase.
  for (const limit of STREAM_LIMITS) metrics.streamRejections.inc({ limit }, 0)
  for (const result of ['answered', 'failed']) metrics.replicaRequests.inc({ result }, 0)
  for (const topic of TOPICS) metrics.droppedMessages.inc({ topic }, 0)
  const slots = createStreamSlots({
    ...config,
    onRejected: (limit) => metrics.streamRejections.inc({ limit }),
  })
  const shared = { supportedChains, rateLimits, slots, metrics, clock, log }
  const streams = createEventStreams(shared, eventLog, createChainHealth(chains, directory))
  // A stream shows the best offer at each moment, so only its caller ends a round sooner (docs/decisions.md, D30).
  const readQuote = createReadQuote(context, 0)
  const quoteStreams = createQuoteStreams(shared, auction.auction, readQuote)
  const solverSessions = createSolverSessions({ sessions, supportedChains, rateLimits, metrics })
  const services = [...new Set([...methods, quoteStreams, streams].map(({ desc }) => desc.parent))]
  const health = createHealth({
    services: services.map(({ typeName }) => typeName),
    isServing: () => [...chains.values()].some((chain) => chain.status().status !== 'down'),
    watchIntervalMs: HEALTH_WATCH_MS,
    maxWatchers: MAX_HEALTH_WATCHERS,
    maxWatchersPerClient: MAX_HEALTH_WATCHERS_PER_CLIENT,
  })
  const reflection = createReflection([...services, health.desc], [withErrors, limitMessages(rateLimits)])

  async function collectMetrics(): Promise<void> {
    for (const [state, count] of Object.entries(eventLog.replays()))
      metrics.streamReplays.set({ state }, count)
    metrics.databaseUp.set(Number(cluster.isDatabaseUp()))
    collectChainMetrics(chains, metrics)
    sessions.collectMetrics()
    metrics.replicasUnreachable.set(relay?.countDown() ?? 0)
    collectSolverMetrics(supportedChains, directory, freeBonds, metrics)
    collectOrderMetrics()
    await auction.collectMetrics(
      new Map(supportedChains.map((chainId) => [chainId, directory.reachable(chainId)])),
    )
  }

  const consoleFiles = config.console ? readConsole() : undefined
  if (config.console && consoleFiles === undefined)
    log.info('the console is not built: / leads to /docs. Run npm run build --workspace packages/console')

  const identity = { ...config, version }
  const server = await createHttpServer({
    config,
    methods,
    streams,
    quoteStreams,
    solverSessions,
    rateLimits,
    keys,
    addServices: [health.routes, reflection],
    addRoutes(routes) {
      void routes.register(async (pages) => {
        pages.addHook('onRequest', limitOpenResponses(MAX_OPEN_RESPONSES_OF_ALL))
        registerReference(pages, consoleFiles && identity)
        registerLogos(pages, config.chains)
        if (consoleFiles === undefined) redirectToDocs(pages)
        else registerConsole(pages, consoleFiles, identity)
      })
      void routes.register(async (monitoring) => {
        monitoring.addHook('onRequest', limitOpenResponses(Number.POSITIVE_INFINITY))
        registerHealth(monitoring, app, health.assertServing)
        registerMetrics(monitoring, app, collectMetrics)
      })
    },
    lostPage: consoleFiles && createLostPage(consoleFiles, identity),
    log,
  })
  started.push(() => server.close(graceMs(config), drainMs()))
  started.push(async () => {
    sessions.goAway()
    eventLog.endSubscriptions()
    quoteStreams.shutDown()
  })
  started.push(async () => health.drain())
  return server
}

const SHORTEST_MS = 10_000
/** What a quote may take besides its round and the checks of its offers. */
const REST_MS = 1000

/** How long open requests may take after the service has begun to close, in milliseconds: so long that every open quote is answered. */
export function graceMs({ quoteTimeoutMs, verifyTimeoutMs }: Config): number {
  return Math.max(SHORTEST_MS, quoteTimeoutMs + verifyTimeoutMs + REST_MS)
}
