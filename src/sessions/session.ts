import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import {
  type Reason,
  ServiceError,
  shuttingDown,
  toServiceError,
} from '../../packages/protocol/src/errors.js'
import { MAX_QUOTE_TIMEOUT_MS } from '../../packages/protocol/src/field-rules.js'
import {
  CANCELLED,
  type FailReason,
  type SessionResult,
} from '../../packages/protocol/src/solvers/solver-result.js'
import type { CallSignal } from '../clients/call.js'
import type { Subscription } from '../events/subscriber.js'
import type { SessionRegistration } from '../solvers/registry/session-registrations.js'
import { MAX_OPEN_SESSION_REQUESTS } from '../solvers/transport/request-slots.js'
import type { SolverCall, SolverReply, SolverRequest } from '../solvers/transport/solver-transports.js'
import { startHeartbeat, watchBacklog } from './liveness.js'
import { MAX_MESSAGE_BYTES, type SessionConnection, type SolverMessage } from './messages.js'
import { createOpenRequests, holdResults } from './open-requests.js'
import { feedEvents } from './solver-events.js'

/** A solver's open session. */
export type Session = ReturnType<typeof createSession>

interface SessionOptions {
  readonly registration: SessionRegistration
  readonly connection: SessionConnection
  readonly heartbeatMs: number
  /** The events of the solver's orders, if it asked for them. */
  readonly subscription: Subscription | undefined
  /** Called once. */
  readonly onEnd: (reason: Reason | 'CLOSED') => void
  readonly clock: Clock
}

/** Opens a session after its hello was accepted. */
export function createSession(options: SessionOptions) {
  const { registration, connection, heartbeatMs, subscription, onEnd, clock } = options
  const chains = new Set(registration.chainIds)
  /** The error with which the session ends when no request is open. */
  let closing: ServiceError | undefined
  /** Ends a closing session at the latest when every round has ended. */
  let lastReport: Timer | undefined
  let isLeaving = false
  let hasEnded = false
  const requests = createOpenRequests(() => closing !== undefined && end(closing))
  const onBacklog = () => end(stalled('The solver read nothing for 10 seconds.'))
  const backlog = watchBacklog(connection, onBacklog, clock)
  const results = holdResults((message) => !backlog.isFull() && connection.send(message), clock)
  const heartbeat = startHeartbeat(
    heartbeatMs,
    (id) => connection.send({ type: 'ping', id }),
    () => end(stalled('The solver did not answer two pings.')),
    clock,
  )

  /** Ends the session; without an error the solver has closed it. */
  function end(error?: ServiceError): void {
    if (hasEnded) return
    hasEnded = true
    lastReport?.stop()
    heartbeat.stop()
    results.stop()
    backlog.stop()
    subscription?.close()
    if (error !== undefined) connection.end(error)
    onEnd(error?.reason ?? 'CLOSED')
    requests.endAll(SESSION_ENDED)
  }

  /** Sends no more requests, and ends the session when none is open. */
  function endWhenIdle(error: ServiceError): void {
    if (closing !== undefined) return
    closing = error
    if (requests.isIdle()) end(error)
    // The result of a request may never be reported: its round failed, or the replica that asked is gone.
    else lastReport = clock.setTimeout(() => end(error), MAX_QUOTE_TIMEOUT_MS)
  }

  /** The reply to a request that cannot be sent; undefined when it can. */
  function refusalOf(chainId: number): SolverReply | undefined {
    if (hasEnded || closing !== undefined || !chains.has(chainId)) return SESSION_ENDED
    return requests.count() >= MAX_OPEN_SESSION_REQUESTS || backlog.isFull() ? CONGESTED : undefined
  }

  /** @returns whether the message answers something */
  function accept(message: SolverMessage): boolean {
    switch (message.type) {
      case 'quote':
        return requests.answer(message.id, { kind: 'replied', body: message.body })
      case 'decline':
        return requests.answer(message.id, { kind: 'declined', code: message.code })
      case 'pong':
        return heartbeat.receivePong(message.id)
      case 'hello':
        return false
    }
  }

  return {
    id: registration.sessionId,
    registration,
    /** Sends `ready`, then the events. */
    start(): void {
      const { sessionId } = registration
      connection.send({
        type: 'ready',
        sessionId,
        heartbeatMs,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        maxOpenRequests: MAX_OPEN_SESSION_REQUESTS,
        cursor: subscription?.cursor(),
      })
      if (subscription === undefined) return
      feedEvents(subscription, connection).catch((thrown) => {
        const error = toServiceError(thrown)
        // All subscriptions end when the instance shuts down, before its sessions do.
        if (error.reason !== 'SHUTTING_DOWN') end(error)
      })
    },
    /** Takes a message of the solver. One that answers nothing, or cannot be read, ends the session. */
    receive(read: () => SolverMessage): void {
      if (hasEnded) return
      try {
        if (!accept(read())) end(unasked())
      } catch (thrown) {
        end(toServiceError(thrown))
      }
    },
    requestQuote(
      chainId: number,
      solverRequest: SolverRequest,
      signal: CallSignal,
      call: SolverCall,
    ): Promise<SolverReply> {
      const refusal = signal.aborted ? CANCELLED : refusalOf(chainId)
      if (refusal !== undefined) {
        call.onEnd?.()
        return Promise.resolve(refusal)
      }
      return requests.ask(signal, call, () => {
        results.flush()
        connection.send({ type: 'quoteRequest', id: call.quoteId, solverRequest })
        // Too much may wait from now on.
        backlog.isFull()
      })
    },
    reportResult(id: string, result: SessionResult): void {
      if (!hasEnded) results.add({ type: 'result', id, result })
      requests.noteReport(id)
    },
    /** The chains on which the session is the solver's. */
    chains: (): ReadonlySet<number> => chains,
    /** The session is no longer the solver's on a chain. After the last one, it ends when no request is open, and each has its result. */
    leaveChain(chainId: number, error: ServiceError): void {
      chains.delete(chainId)
      // After `goAway`, the solver itself has replaced the session, and must not take that for the end.
      if (chains.size === 0) endWhenIdle(isLeaving ? shuttingDown() : error)
    },
    /** Announces the end of the session. */
    goAway(reconnectWithinMs: number): void {
      isLeaving = true
      connection.send({ type: 'goAway', reconnectWithinMs })
    },
    endWhenIdle,
    end,
  }
}

const SESSION_ENDED = failed('session_ended', "The solver's session has ended.")
const CONGESTED = failed('session_congested', 'Too much waits to be sent on the session.')

function failed(reason: FailReason, message: string): SolverReply {
  return { kind: 'failed', reason, message }
}

/** The reply of a solver whose session is not open. */
export function sessionEnded(call: Partial<SolverCall>): Promise<SolverReply> {
  call.onEnd?.()
  return Promise.resolve(SESSION_ENDED)
}

function stalled(message: string): ServiceError {
  return new ServiceError('SESSION_STALLED', message)
}

function unasked(): ServiceError {
  return new ServiceError(
    'RATE_LIMITED',
    'A message answers no open quote request and no ping: send exactly one answer to each.',
  )
}
