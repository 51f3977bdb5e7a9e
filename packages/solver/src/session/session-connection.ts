import { WebSocket } from 'ws'
import type { Hex } from '../../../protocol/src/values/hex.js'
import type { SolverParts } from '../solver-parts.js'
import {
  type InstanceMessage,
  readMessage,
  type SessionAnswer,
  type SessionResult,
  toAnswerMessage,
} from './session-messages.js'
import { type IncomingRequest, instanceSentence } from './wire-forms.js'

/** What answers the requests of an instance, and takes its results. */
export interface SessionAnswers {
  readonly answer: (request: IncomingRequest) => Promise<SessionAnswer>
  readonly onResult: (result: SessionResult) => void
}

/** What a connection asks of its session, and reports to it. */
interface ConnectionHandlers extends SessionAnswers {
  /** Whether the instance has offered sessions before, or another one may: then a 404 is not final. */
  readonly mayBeOffered: boolean
  /** Signs the hello over the instance's challenge. */
  readonly hello: (nonce: Hex) => Promise<object>
  readonly onReady: (sessionId: string) => void
  readonly onGoAway: (reconnectWithinMs: number) => void
  /** Called once, when the socket is closed. */
  readonly onClosed: (error: SessionError) => void
}

/** One connection to an instance, with a session on it once the instance has accepted the hello. */
export type SessionConnection = ReturnType<typeof openConnection>

/** Bytes that may wait for an instance that does not read. An answer has about 1 KB. */
export const MAX_UNSENT_BYTES = 1024 * 1024
/** Time for the connection and the opening of the session. */
const OPENING_MS = 15_000
/** Silence of this many heartbeats means that the connection is dead. */
const DEAD_AFTER_HEARTBEATS = 2.5
/** The answer to the upgrade of an instance without sessions: other implementations of the protocol have none. */
const NOT_FOUND = 404

const OPTIONS = {
  perMessageDeflate: false,
  /** The messages of an instance have a few hundred bytes. */
  maxPayload: 256 * 1024,
  /** Time for the instance to close its side. */
  closeTimeout: 1_000,
}

/** Opens a connection, and a session on it. @param url of the WebSocket */
export function openConnection({ clock, onError }: SolverParts, url: string, handlers: ConnectionHandlers) {
  const { hello, answer } = handlers
  let phase: 'connected' | 'challenged' | 'ready' = 'connected'
  let heartbeatMs = 0
  let failure: SessionError | undefined
  const socket = new WebSocket(url, OPTIONS)
  let timer = clock.setTimeout(() => fail('the instance did not open the session in time'), OPENING_MS)

  /** The socket is destroyed: the other side may be dead, or hostile. */
  function fail(why: string | SessionError): void {
    failure ??= typeof why === 'string' ? new SessionError(why) : why
    socket.terminate()
  }

  /** An instance that does not read what it is sent must not fill the memory, with pongs neither. */
  function boundUnsent(): void {
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) fail('the instance does not read what it is sent')
  }

  function send(message: object): void {
    boundUnsent()
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
  }

  function expectPing(): void {
    timer.stop()
    const withinMs = DEAD_AFTER_HEARTBEATS * heartbeatMs
    timer = clock.setTimeout(() => fail(`the instance has sent no ping for ${withinMs} ms`), withinMs)
  }

  /** What this version cannot read is declined. */
  async function reply({ id, request }: InstanceMessage & { type: 'quoteRequest' }): Promise<void> {
    send(toAnswerMessage(id, request === undefined ? { decline: 'OTHER' } : await answer(request)))
  }

  function receive(message: InstanceMessage): void {
    const { type } = message
    if (type === 'error')
      fail(new SessionError(message.error, { code: message.code, isRefusal: phase !== 'ready' }))
    else if (phase === 'connected' && type === 'challenge') {
      phase = 'challenged'
      void hello(message.nonce).then(send, (error) => {
        onError(error)
        fail('the hello could not be signed')
      })
    } else if (phase === 'challenged' && type === 'ready') {
      phase = 'ready'
      heartbeatMs = message.heartbeatMs
      expectPing()
      handlers.onReady(message.sessionId)
    } else if (phase !== 'ready') fail(`the instance has sent ${type} before the session was open`)
    else if (type === 'quoteRequest') void reply(message).catch(onError)
    else if (type === 'result') handlers.onResult(message)
    else if (type === 'goAway') handlers.onGoAway(message.reconnectWithinMs)
    else if (type === 'ping') {
      expectPing()
      send({ type: 'pong', id: message.id })
    } else fail(`the instance has sent ${type} a second time`)
  }

  socket.on('message', (data) => {
    if (socket.readyState !== socket.OPEN) return
    try {
      const message = readMessage(data.toString())
      if (message !== undefined) receive(message)
    } catch (error) {
      fail(`the instance has sent what is not a message: ${(error as Error).message}`)
    }
  })
  socket.on('ping', boundUnsent)
  socket.on('unexpected-response', (_request, { statusCode = 0 }) =>
    fail(upgradeRefused(statusCode, url, handlers.mayBeOffered)),
  )
  socket.on('error', (error) => {
    failure ??= new SessionError(error.message, { cause: error })
  })
  socket.on('close', (code, reason) => {
    timer.stop()
    const words = reason.length > 0 ? `${code} ${reason}` : code
    handlers.onClosed(failure ?? new SessionError(`the connection was closed: ${words}`))
  })

  return {
    destroy: () => socket.terminate(),
    /** @returns when it is closed */
    async close(): Promise<void> {
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.close(1000)
      await closed
    },
  }
}

function upgradeRefused(status: number, url: string, mayBeOffered: boolean): SessionError {
  if (status !== NOT_FOUND)
    return new SessionError(`the instance has answered the upgrade with status ${status}`)
  const text = `the instance offers no sessions: nothing is at ${new URL(url).host}. Set endpointUrl, and serve an endpoint there`
  return new SessionError(text, { code: NO_SESSIONS, isRefusal: !mayBeOffered })
}

/** The code of an instance that has no sessions at all, such as one of another implementation of the protocol. */
const NO_SESSIONS = 'SESSIONS_NOT_OFFERED'
/** Refusals that the same solver gets again. */
const FINAL_REFUSALS: readonly string[] = [
  'INVALID_ARGUMENT',
  'SIGNATURE_INVALID',
  'AUDIENCE_REJECTED',
  NO_SESSIONS,
]
/** Ends at any time that a new session does not change. */
const FINAL_ENDS: readonly string[] = ['SESSION_REPLACED', 'SOLVER_BLOCKED', 'SOLVER_NOT_FOUND']

interface SessionErrorOptions {
  readonly code?: string
  /** The instance did not open the session. */
  readonly isRefusal?: boolean
  readonly cause?: unknown
}

/** Why a session ended or could not be opened. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  /** The reason of the instance (docs/api.md, "Errors"), or SESSIONS_NOT_OFFERED; undefined when the connection itself failed. */
  readonly code: string | undefined
  /**
   * Another attempt would not help: the hello must change, another session of this solver has replaced this one, the
   * operator has blocked the solver, the solver was unregistered, or the instance has no sessions.
   */
  readonly isFinal: boolean

  constructor(message: string, { code, isRefusal = false, cause }: SessionErrorOptions = {}) {
    // The words may be those of an instance.
    super(instanceSentence(code === undefined ? message : `${code}: ${message}`), { cause })
    this.code = code
    this.isFinal = FINAL_ENDS.includes(code ?? '') || (isRefusal && FINAL_REFUSALS.includes(code ?? ''))
  }
}
