import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../packages/protocol/src/clock.js'
import type { Solver } from '../../packages/protocol/src/solvers/solver.js'
import { toSessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { EnvironmentReader } from '../config/environment.js'
import { readRateLimits } from '../config/rate-limits.js'
import { DEFAULTS } from '../config/variables.js'
import type { EventLog } from '../events/event-log.js'
import { EARLIEST } from '../events/hub.js'
import type { Subscription } from '../events/subscriber.js'
import { createHttpServer } from '../http/server.js'
import { NO_KEYS } from '../rpc/limits/key-ring.js'
import { createRateLimits } from '../rpc/limits/rate-limits.js'
import { createSolverSessions } from '../rpc/streams/solver-sessions.js'
import type { SessionConnection } from '../sessions/messages.js'
import { sessionEnded } from '../sessions/session.js'
import { createSessions, type Sessions } from '../sessions/sessions.js'
import { createLog } from '../telemetry/log.js'
import { createMetrics } from '../telemetry/metrics.js'
import { type ConnectionEnd, createSessionMonitor } from './session-monitor.js'
import type { TrialTransport } from './trial.js'
import { createTrialDirectory } from './trial-directory.js'

/** An instance that has only sessions, for one solver. */
export interface SessionHost extends TrialTransport {
  /** Base URL. */
  readonly url: string
  /** The solver whose session came last. */
  solver(): Address | undefined
  /** The newest open session; undefined while there is none. */
  current(): SessionConnection | undefined
  /** The connections that the service has ended, in order. */
  readonly ends: readonly ConnectionEnd[]
  /**
   * Waits until a condition holds, which is checked from time to time.
   * @returns whether it holds; false after `ms`, or when the signal is aborted
   */
  until(condition: () => boolean, ms: number, signal: AbortSignal): Promise<boolean>
  /** Announces a shutdown, after which a restarted instance accepts the solver. @returns a function that ends the old sessions */
  restart(): { readonly reconnectWithinMs: number; endOld(): void }
  close(): Promise<void>
}

interface SessionHostOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly chainId: number
  readonly protocolName: string
  /** Undefined for the first solver that connects. */
  readonly solver: Address | undefined
}

/** Short, so that a run sees some. */
export const HEARTBEAT_MS = 1000
/** What an instance with few sessions announces. */
const RECONNECT_WITHIN_MS = 1000
const CHECK_MS = 50
const GRACE_MS = 500
/** The usual ones: a solver that connects again and again is stopped. */
const LIMITS = readRateLimits(new EnvironmentReader({}, DEFAULTS))

/**
 * Starts the host: the service's server and sessions, without chain, database and other methods.
 * @throws ConfigError when the port cannot be opened
 */
export async function startSessionHost(options: SessionHostOptions): Promise<SessionHost> {
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
  const rateLimits = createRateLimits(LIMITS)
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
    config: { host, port, corsOrigins: [], trustProxy: 0, logRequestSample: 1 },
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
  const url = await server.listen()

  return {
    url,
    solver: () => trial.solver()?.address,
    current: () => monitor.open().at(-1),
    ends: monitor.ends,
    requestQuote(address, solverRequest, signal, listener) {
      const solver = trial.solver()
      if (solver?.session === undefined) return sessionEnded(listener)
      const asked = { sessions, solver }
      unreported.set(solverRequest.quoteIds.get(address) ?? '', asked)
      return sessions.requestQuote(solver, solverRequest, signal, listener)
    },
    reportResult(id, result) {
      const asked = unreported.get(id)
      unreported.delete(id)
      asked?.sessions.reportResult(asked.solver, id, toSessionResult(result))
    },
    async until(condition, ms, signal) {
      const end = performance.now() + ms
      while (!condition() && performance.now() < end && !signal.aborted)
        await delay(CHECK_MS, undefined, { signal }).catch(() => {})
      return condition()
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
