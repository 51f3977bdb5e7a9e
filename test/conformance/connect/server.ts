import { pino } from 'pino'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { createHttpServer } from '../../../src/http/server.js'
import { countCalls, limitMessages, withErrors } from '../../../src/rpc/interceptors.js'
import { NO_KEYS } from '../../../src/rpc/limits/key-ring.js'
import { createRateLimits } from '../../../src/rpc/limits/rate-limits.js'
import { createSolverSessions } from '../../../src/rpc/streams/solver-sessions.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createConformanceService } from './service.js'

const NO_LIMITS = {
  max: 0,
  windowMs: 60_000,
  quote: 0,
  price: 0,
  order: 0,
  register: 0,
  unregister: 0,
  solvers: 0,
  results: 0,
  streams: 0,
  sessions: 0,
}

/** Starts the service's own server, with its multiplexer and interceptors, and the conformance service as its only one. */
export async function startConformanceServer(): Promise<{ url: string; close(): Promise<void> }> {
  const rateLimits = createRateLimits(NO_LIMITS, systemClock)
  const server = await createHttpServer({
    config: {
      host: '127.0.0.1',
      port: 0,
      corsOrigins: ['*'],
      trustProxy: 0,
      maxConnectionsPerIp: 0,
      logRequestSample: 1,
    },
    methods: [],
    streams: undefined,
    quoteStreams: undefined,
    solverSessions: createSolverSessions({
      sessions: { assertAvailable() {}, accept: refuse, endWhenIdle() {} },
      supportedChains: [],
      rateLimits,
      metrics: createMetrics(),
    }),
    rateLimits,
    keys: NO_KEYS,
    addServices: [createConformanceService([withErrors, countCalls(new Map()), limitMessages(rateLimits)])],
    addRoutes() {},
    log: pino({ level: 'silent' }),
  })
  return { url: await server.listen(), close: () => server.close(0, 0) }
}

function refuse(): never {
  throw new Error('No case opens a session.')
}
