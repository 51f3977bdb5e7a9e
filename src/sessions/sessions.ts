import { randomUUID } from 'node:crypto'
import type { Clock } from '../../packages/protocol/src/clock.js'
import { isOutage, ServiceError, shuttingDown } from '../../packages/protocol/src/errors.js'
import { type Solver, type SolverKey, solverBlocked } from '../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ClientId } from '../clients/client-id.js'
import { untilAborted } from '../concurrency/time-limits.js'
import type { Config } from '../config/config.js'
import type { EventLog } from '../events/event-log.js'
import type { Subscription } from '../events/subscriber.js'
import type { SessionRegistrations } from '../solvers/registry/session-registrations.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'
import type { SessionTransport } from '../solvers/transport/solver-transports.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { startHandshake } from './handshake.js'
import type { Hello, OpeningCall, SessionConnection, SessionPeer } from './messages.js'
import { createSession, type Session, sessionEnded } from './session.js'
import { createPendingSlots, createSessionRate } from './session-limits.js'
import { subscribeForSolver } from './solver-events.js'

/** The solver sessions of this replica (docs/decisions.md, D18). */
export interface Sessions extends SessionTransport {
  /**
   * Refuses a connection before it is opened.
   * @throws ServiceError SESSIONS_OFF, SHUTTING_DOWN or SESSION_LIMIT_REACHED
   */
  assertAvailable(client: ClientId): void
  /** Begins a connection with its challenge. @throws ServiceError as `assertAvailable` */
  accept(connection: SessionConnection, call: OpeningCall): SessionPeer
  /** Announces the end of all sessions, and opens no more. Requests are still sent. */
  goAway(): void
  /** Sends no more requests, and ends each session when none of its requests is open. */
  endWhenIdle(): void
  /** Updates the metrics that are read rather than counted. */
  collectMetrics(): void
}

interface SessionsOptions {
  readonly config: Pick<
    Config,
    'solverSessions' | 'publicUrls' | 'production' | 'protocolName' | 'rateLimits'
  >
  readonly registrations: Pick<SessionRegistrations, 'connect' | 'disconnect'>
  readonly directory: Pick<SolverDirectory, 'find' | 'addListener'>
  readonly isBlocked: (key: SolverKey) => Promise<boolean>
  /** Whether a user has deposited for an order of the solver that is neither settled nor refunded. */
  readonly hasOpenOrders: (key: SolverKey) => Promise<boolean>
  readonly eventLog: Pick<EventLog, 'subscribe' | 'waitForCursor'>
  readonly heartbeatMs?: number | undefined
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
}

const HEARTBEAT_MS = 20_000
/** Solvers that connect again after `goAway` spread over this time for each: up to 3,000 sessions, 50 a second come. */
const RECONNECT_MS = 20
const MIN_RECONNECT_MS = 1000
const MAX_RECONNECT_MS = 60_000
const OPEN_ORDERS_POLL_MS = 5000
/** An order that nobody ends keeps no session longer. */
const OPEN_ORDERS_MS = 24 * 3_600_000

/** Builds the sessions, without any at first. */
export function createSessions(options: SessionsOptions): Sessions {
  const { config, registrations, directory, metrics, log, clock } = options
  const { now } = clock
  const { heartbeatMs = HEARTBEAT_MS } = options
  const isOn = config.solverSessions && (!config.production || config.publicUrls.length > 0)
  const pendingSlots = createPendingSlots()
  const rate = createSessionRate(config.rateLimits.sessions, clock.monotonic)
  const pending = new Set<SessionPeer>()
  const open = new Map<string, Session>()
  /** Sessions that are being written to the database: another replica may read and ask them before they are open here. */
  const opening = new Map<string, Promise<unknown>>()
  /** Blocked solvers that still get the events of their open orders, by session and chain. */
  const leaving = new Set<string>()
  let isShuttingDown = false

  function assertAvailable(client: ClientId): void {
    if (!isOn) throw sessionsOff()
    if (isShuttingDown) throw shuttingDown()
    pendingSlots.assertFree(client)
  }

  async function openSession(
    sessionId: string,
    hello: Hello,
    connection: SessionConnection,
    call: OpeningCall,
    isGone: () => boolean,
  ): Promise<Session | undefined> {
    const { address, name, chainIds } = hello
    const registration = { sessionId, address, name, chainIds }
    const takeBack = rate.count(address)
    let subscription: Subscription | undefined
    try {
      subscription = await subscribeForSolver(options.eventLog, hello, call.client)
      await registrations.connect(registration)
    } catch (error) {
      subscription?.close()
      takeBack()
      throw error
    }
    if (isGone() || isShuttingDown) {
      subscription?.close()
      void registrations.disconnect(sessionId, address, chainIds)
      if (isGone()) return undefined
      throw shuttingDown()
    }
    const openedAt = now()
    const { protocol: transport, requestId } = call
    const fields = { sessionId, solver: address, chainIds, transport, requestId }
    const session = createSession({
      registration,
      connection,
      heartbeatMs,
      subscription,
      onEnd(reason) {
        open.delete(sessionId)
        const left = [...session.chains()]
        if (left.length > 0) void registrations.disconnect(sessionId, address, left)
        metrics.solverSessions.dec({ transport })
        metrics.solverSessionEnds.inc({ reason })
        log.info({ ...fields, reason, durationMs: now() - openedAt }, 'a solver session has ended')
      },
      clock,
    })
    // Before any quote request.
    session.start()
    open.set(sessionId, session)
    metrics.solverSessions.inc({ transport })
    log.info(fields, 'a solver session has begun')
    for (const chainId of chainIds) follow(session, chainId, directory.find({ chainId, address }))
    return session
  }

  /** Takes a chain from a session that is no longer the solver's there. */
  function follow(session: Session, chainId: number, solver: Solver | undefined): void {
    if (!session.chains().has(chainId) || solver?.session?.id === session.id) return
    const { address } = session.registration
    if (solver === undefined) void leave(session, { chainId, address })
    else {
      const next = solver.session ?? solver.remoteSession
      session.leaveChain(chainId, next === undefined ? registrationLost() : replaced())
    }
  }

  /** A blocked solver is not asked, and leaves when its open orders have ended: it needs their events (docs/decisions.md, D26). */
  async function leave(session: Session, key: SolverKey): Promise<void> {
    const { chainId } = key
    const isBlocked = await options.isBlocked(key).catch(() => false)
    if (!isBlocked)
      return session.leaveChain(
        chainId,
        new ServiceError('SOLVER_NOT_FOUND', 'The solver is not registered any more.'),
      )
    const id = `${session.id} ${chainId}`
    if (leaving.has(id)) return
    leaving.add(id)
    const endsAt = clock.monotonic() + OPEN_ORDERS_MS
    let isStillBlocked = true
    while (isStillBlocked && open.has(session.id) && clock.monotonic() < endsAt) {
      if (!(await options.hasOpenOrders(key).catch(() => true))) break
      await clock.sleep(OPEN_ORDERS_POLL_MS)
      isStillBlocked = await options.isBlocked(key).catch(() => true)
    }
    leaving.delete(id)
    session.leaveChain(chainId, isStillBlocked ? solverBlocked() : registrationLost())
  }

  directory.addListener((chainId, registered) => {
    const byAddress = new Map<Address, Solver>(registered.map((solver) => [solver.address, solver]))
    for (const session of [...open.values()])
      follow(session, chainId, byAddress.get(session.registration.address))
  })

  const transport: SessionTransport = {
    async requestQuote(solver, solverRequest, signal, call) {
      const sessionId = solver.session?.id ?? ''
      const opened = opening.get(sessionId)
      if (opened !== undefined) await untilAborted(opened, signal)
      const session = open.get(sessionId)
      if (session === undefined) return sessionEnded(call)
      return session.requestQuote(solver.chainId, solverRequest, signal, call)
    },
    reportResult(solver, id, result) {
      open.get(solver.session?.id ?? '')?.reportResult(id, result)
    },
  }

  return {
    ...transport,
    assertAvailable,
    accept(connection, call) {
      assertAvailable(call.client)
      const releaseSlot = pendingSlots.take(call.client, (error) => peer.reject(error))
      const peer: SessionPeer = startHandshake({
        connection,
        call,
        rules: config,
        open(hello, isGone) {
          const sessionId = randomUUID()
          const opened = openSession(sessionId, hello, connection, call, isGone)
          opening.set(sessionId, opened)
          return opened.finally(() => opening.delete(sessionId))
        },
        onRefused: (error) => logRefusal(log, error, call),
        onSettled() {
          pending.delete(peer)
          releaseSlot()
        },
        clock,
      })
      pending.add(peer)
      return peer
    },
    goAway() {
      isShuttingDown = true
      const wanted = Math.max(MIN_RECONNECT_MS, open.size * RECONNECT_MS)
      const reconnectWithinMs = Math.min(MAX_RECONNECT_MS, wanted)
      for (const session of open.values()) session.goAway(reconnectWithinMs)
    },
    endWhenIdle() {
      isShuttingDown = true
      for (const peer of [...pending]) peer.reject(shuttingDown())
      for (const session of [...open.values()]) session.endWhenIdle(shuttingDown())
    },
    collectMetrics: () => metrics.solverSessionsPending.set(pendingSlots.count()),
  }
}

function sessionsOff(): ServiceError {
  return new ServiceError('SESSIONS_OFF', 'This instance accepts no solver sessions.')
}

function replaced(): ServiceError {
  return new ServiceError('SESSION_REPLACED', 'Another session of this solver has replaced this one.')
}

function registrationLost(): ServiceError {
  return new ServiceError('DATABASE_UNAVAILABLE', 'The registration of this session was lost. Connect again.')
}

/** Logs a refused hello. An error of the service itself has a line of its own. */
function logRefusal(
  log: Logger,
  { reason, message, cause }: ServiceError,
  { protocol: transport, requestId, client }: OpeningCall,
): void {
  if (cause !== undefined && !isOutage(reason)) log.error({ requestId, err: cause }, message)
  log.debug({ reason, transport, requestId, client: client.key }, 'a solver session was refused')
}
