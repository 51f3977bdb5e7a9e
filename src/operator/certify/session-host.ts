import {
  HEARTBEAT_MS,
  type SessionHost,
  type SessionHostOptions,
} from '../../../packages/cli/src/certify/certify-host.js'
import { badInput } from '../../../packages/cli/src/command-failure.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { toSessionResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import { ConfigError, EnvironmentReader } from '../../config/environment.js'
import { readRateLimits } from '../../config/rate-limits.js'
import { DEFAULTS } from '../../config/variables.js'
import type { EventLog } from '../../events/event-log.js'
import { EARLIEST } from '../../events/hub.js'
import type { Subscription } from '../../events/subscriber.js'
import { createHttpServer } from '../../http/server.js'
import { NO_KEYS } from '../../rpc/limits/key-ring.js'
import { createRateLimits } from '../../rpc/limits/rate-limits.js'
import { createSolverSessions } from '../../rpc/streams/solver-sessions.js'
import { sessionEnded } from '../../sessions/session.js'
import { createSessions, type Sessions } from '../../sessions/sessions.js'
import { sendTrialRequest } from '../../solvers/transport/trial-request.js'
import { createLog } from '../../telemetry/log.js'
import { createMetrics } from '../../telemetry/metrics.js'
import { createSessionMonitor } from './session-monitor.js'
import { createTrialDirectory } from './trial-directory.js'

/** What an instance with few sessions announces. */
const RECONNECT_WITHIN_MS = 1000
const GRACE_MS = 500
/** The usual ones: a solver that connects again and again is stopped. */
const LIMITS = readRateLimits(new EnvironmentReader({}, DEFAULTS))

/** Starts the service's server and sessions, without chain, database and other methods. @throws CommandFailure */
export async function startSessions(options: SessionHostOptions): Promise<SessionHost> {
  const { host, port, chainId } = options
  const log = createLog('silent')
  const metrics = createMetrics()
  const trial = createTrialDirectory(chainId, options.solver)
  const monitor = createSessionMonitor()
  const { protocolName } = options
  // Outside of production, the origin that the solver has dialled is an audience.
  const rules = { protocolName, publicUrls: [], production: false }
  const config = { ...rules, solverSessions: true, rateLimits: LIMITS }
  const open = (): Sessions =>
    createSessions({
      ...trial,
      config,
      isBlocked: async () => false,
      hasOpenOrders: async () => false,
      eventLog: NO_EVENTS,
      heartbeatMs: HEARTBEAT_MS,
      metrics,
      log,
      clock: systemClock,
    })
  let sessions = open()
  /** By the id of the request. */
  const unreported = new Map<string, { readonly sessions: Sessions; readonly solver: Solver }>()
  const rateLimits = createRateLimits(LIMITS, systemClock)
  const solverSessions = createSolverSessions({
    // Those of the instance after its last restart.
    sessions: {
      assertAvailable: (client) => sessions.assertAvailable(client),
      accept: (connection, caller) => sessions.accept(connection, caller),
      endWhenIdle: () => sessions.endWhenIdle(),
    },
    supportedChains: [chainId],
    rateLimits,
    metrics,
  })
  const server = await createHttpServer({
    config: { host, port, corsOrigins: [], trustProxy: 0, maxConnectionsPerIp: 0, logRequestSample: 1 },
    methods: [],
    streams: undefined,
    quoteStreams: undefined,
    solverSessions: monitor.observe(solverSessions),
    rateLimits,
    keys: NO_KEYS,
    addServices: [],
    addRoutes: () => {},
    log,
  })
  const url = await server.listen().catch(refuse)

  return {
    url,
    solver: () => trial.solver()?.address,
    current: () => monitor.newest(),
    ends: monitor.ends,
    requestQuote(request, timeoutMs, signal) {
      const solver = trial.solver()
      const asked = solver?.session && { sessions, solver }
      if (asked !== undefined) unreported.set(request.id, asked)
      return sendTrialRequest(
        request,
        AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        (solverRequest, time, listener) =>
          asked === undefined
            ? sessionEnded(listener)
            : asked.sessions.requestQuote(asked.solver, solverRequest, time, {
                ...listener,
                quoteId: request.id,
              }),
      )
    },
    reportResult(id, result) {
      const asked = unreported.get(id)
      unreported.delete(id)
      asked?.sessions.reportResult(asked.solver, id, toSessionResult(result))
    },
    restart() {
      const old = sessions
      sessions = open()
      old.goAway()
      return { reconnectWithinMs: RECONNECT_WITHIN_MS, endOld: () => old.endWhenIdle() }
    },
    close: () => server.close(GRACE_MS, 0),
  }
}

/** Names the option of what cannot be listened on. */
function refuse(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error
  const [issue] = error.issues
  throw badInput(`--${issue?.variable.toLowerCase()} ${issue?.message}.`)
}

/** The log of a chain without events. Every instance knows its cursor. */
const NO_EVENTS: Pick<EventLog, 'subscribe' | 'waitForCursor'> = {
  waitForCursor: () => undefined,
  subscribe(after): Subscription {
    const controller = new AbortController()
    return {
      cursor: () => after ?? EARLIEST,
      next: () => new Promise(() => {}),
      ended: controller.signal,
      close: () => controller.abort(),
    }
  },
}
