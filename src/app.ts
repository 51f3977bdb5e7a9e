import { EventService } from '../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../gen/aggregator/v1/solver_pb.js'
import { openChains } from './chain/chains.js'
import type { Config } from './config.js'
import { registerHealth } from './http/health.js'
import { registerMetrics } from './http/metrics-route.js'
import { createHttpServer } from './http/server.js'
import { createAggregator } from './quoting/aggregator.js'
import { createGuard } from './rpc/guard.js'
import { createOrderService } from './rpc/order-service.js'
import { createQuoteService } from './rpc/quote-service.js'
import { createSolverService } from './rpc/solver-service.js'
import { isNativeRecovery } from './signing/recover.js'
import { createEndpointGuard, type ResolveAll } from './solvers/endpoint-guard.js'
import { createRegistry } from './solvers/registry.js'
import { createSelection } from './solvers/selection.js'
import { createSolverClient } from './solvers/solver-client.js'
import { openDatabase } from './store/database.js'
import { createSolverStore } from './store/solver-store.js'
import { createLog, type Logger } from './telemetry/log.js'
import { createMetrics } from './telemetry/metrics.js'
import { version } from './version.js'

/** What tests put in place of the real thing. */
export interface AppOverrides {
  /** The clock: Unix time in milliseconds. */
  readonly now?: () => number
  readonly log?: Logger
  readonly resolveAll?: ResolveAll
}

/** A running service. */
export interface App {
  /** Base URL of its port. */
  readonly url: string
  /** Stops accepting, lets requests under way finish for at most 10 s, and frees everything. */
  close(): Promise<void>
}

const GRACE_MS = 10_000

/**
 * Builds and starts the whole service, top to bottom.
 * @throws ConfigError when a chain is not what the configuration says
 */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { now = Date.now, log = createLog(config.logLevel) } = overrides
  if (!isNativeRecovery)
    log.warn('libsecp256k1 could not be loaded: signatures are recovered in slow JavaScript')

  const metrics = createMetrics()
  const database = await openDatabase(config.dbPath)
  const chains = await openChains(config, log)
  const endpointGuard = createEndpointGuard({
    production: config.production,
    allowlist: config.solverEndpointAllowlist,
    resolveAll: overrides.resolveAll,
  })
  const registry = await createRegistry({
    ...config,
    store: createSolverStore(database),
    chains,
    endpointGuard,
    now,
  })
  const solverClient = createSolverClient(endpointGuard)
  const aggregator = createAggregator({
    ...config,
    registry,
    chains,
    selection: createSelection(),
    solverClient,
    metrics,
    log,
  })

  const guard = createGuard({ supportedChains: [...chains.keys()], metrics, log })
  const methods = [
    ...createQuoteService({ ...config, aggregator, now }),
    ...createSolverService(registry),
    ...createOrderService(chains),
  ].map(guard)
  const server = await createHttpServer({
    config,
    services: [QuoteService, SolverService, OrderService, EventService],
    methods,
    addRoutes(routes) {
      registerHealth(routes, { version, chains, registry, now })
      registerMetrics(routes, metrics, config.metricsAuth)
    },
    log,
  })
  const url = await server.listen()
  log.info({ url, version, chains: [...chains.keys()] }, 'listening')

  return {
    url,
    async close() {
      await server.close(GRACE_MS)
      await solverClient.close()
      await Promise.all([...chains.values()].map((chain) => chain.close()))
      await database.destroy()
    },
  }
}
