import { WebSocket } from 'ws'
import type { Clock } from '../../../protocol/src/clock.js'
import type { Hex } from '../../../protocol/src/values/hex.js'
import { createBoundedSender } from './bounded-sender.js'
import type { IncomingRequest } from './request-terms.js'
import { NO_SESSIONS, SessionError } from './session-error.js'
import {
  type InstanceMessage,
  readMessage,
  type SessionAnswer,
  type SessionReady,
  type SessionResult,
  writeAnswer,
} from './session-messages.js'

export interface ConnectionOptions {
  /** Answers a quote request. What it throws becomes a decline, and goes to `onError`. */
  readonly answer: (request: IncomingRequest) => SessionAnswer | Promise<SessionAnswer>
  /** Called with what the solver's own callbacks or its account have thrown. */
  readonly onError: (error: unknown) => void
  /** The WebSocket's URL. */
  readonly url: string
  /** Whether the instance has offered sessions before, or another one may: then a 404 is not final. */
  readonly mayBeOffered: boolean
  readonly clock: Pick<Clock, 'setTimeout'>
  /** Signs the hello over the instance's challenge. @returns the whole message */
  readonly hello: (nonce: Hex) => Promise<string>
  readonly onReady: (ready: SessionReady) => void
  readonly onResult: (result: SessionResult) => void
  readonly onGoAway: (reconnectWithinMs: number) => void
  /** Called once, when the socket is closed. */
  readonly onClosed: (error: SessionError) => void
}

/** One connection to an instance, with a session on it once the instance has accepted the hello. */
export type SessionConnection = ReturnType<typeof openConnection>

/** Time for the connection and the opening of the session. */
const OPENING_MS = 15_000
/** Silence of this many heartbeats means that the connection is dead. */
const DEAD_AFTER_HEARTBEATS = 2.5
/** Time for the instance to close its side. */
const CLOSING_MS = 1_000
/** The messages of an instance have a few hundred bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024
/** The answer to the upgrade of an instance without sessions: other implementations of the protocol have none. */
const NOT_FOUND = 404

/** Opens a connection, and a session on it. */
export function openConnection(options: ConnectionOptions) {
  const { url, clock, hello, answer, onError } = options
  let phase: 'connected' | 'challenged' | 'ready' = 'connected'
  let heartbeatMs = 0
  let failure: SessionError | undefined
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: MAX_MESSAGE_BYTES,
  })
  const send = createBoundedSender(socket, () => fail('the instance does not read what it is sent'))
  let timer = clock.setTimeout(() => fail('the instance did not open the session in time'), OPENING_MS)

  /** The socket is destroyed: the other side may be dead, or hostile. */
  function fail(message: string): void {
    failure ??= new SessionError(message)
    socket.terminate()
  }

  function expectPing(): void {
    timer.stop()
    const withinMs = DEAD_AFTER_HEARTBEATS * heartbeatMs
    timer = clock.setTimeout(() => fail(`the instance has sent no ping for ${withinMs} ms`), withinMs)
  }

  async function introduce(nonce: Hex): Promise<void> {
    try {
      send(await hello(nonce))
    } catch (error) {
      onError(error)
      fail('the hello could not be signed')
    }
  }

  async function reply(id: string, request: IncomingRequest | undefined): Promise<void> {
    let text = writeAnswer(id, { decline: 'OTHER' })
    try {
      if (request !== undefined) text = writeAnswer(id, await answer(request))
    } catch (error) {
      onError(error)
    }
    send(text)
  }

  function read(text: string): InstanceMessage | undefined {
    try {
      return readMessage(text)
    } catch (error) {
      fail(`the instance has sent what is not a message: ${(error as Error).message}`)
      return undefined
    }
  }

  function receive(message: InstanceMessage): void {
    const { type } = message
    if (type === 'error') {
      failure ??= new SessionError(message.error, { code: message.code, isRefusal: phase !== 'ready' })
      socket.terminate()
    } else if (phase === 'connected' && type === 'challenge') {
      phase = 'challenged'
      void introduce(message.nonce)
    } else if (phase === 'challenged' && type === 'ready') {
      phase = 'ready'
      heartbeatMs = message.heartbeatMs
      expectPing()
      options.onReady(message)
    } else if (phase !== 'ready') fail(`the instance has sent ${type} before the session was open`)
    else if (type === 'quoteRequest') void reply(message.id, message.request)
    else if (type === 'result') options.onResult(message)
    else if (type === 'goAway') options.onGoAway(message.reconnectWithinMs)
    else if (type === 'ping') {
      expectPing()
      send(JSON.stringify({ type: 'pong', id: message.id }))
    } else fail(`the instance has sent ${type} a second time`)
  }

  socket.on('message', (data) => {
    if (socket.readyState !== socket.OPEN) return
    const message = read(data.toString())
    if (message !== undefined) receive(message)
  })
  socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
    failure ??= upgradeRefused(statusCode, options)
    socket.terminate()
  })
  socket.on('error', (error) => {
    failure ??= new SessionError(error.message, { cause: error })
  })
  const closed = new Promise<void>((resolve) => {
    socket.on('close', (code, reason) => {
      timer.stop()
      const words = reason.length > 0 ? `${code} ${reason}` : code
      options.onClosed(failure ?? new SessionError(`the connection was closed: ${words}`))
      resolve()
    })
  })

  return {
    destroy: () => socket.terminate(),
    /** Closes it, and destroys the socket when the instance does not close its side. @returns when it is closed */
    close(): Promise<void> {
      timer.stop()
      timer = clock.setTimeout(() => socket.terminate(), CLOSING_MS)
      socket.close(1000)
      return closed
    },
  }
}

function upgradeRefused(status: number, { url, mayBeOffered }: ConnectionOptions): SessionError {
  if (status !== NOT_FOUND)
    return new SessionError(`the instance has answered the upgrade with status ${status}`)
  const text = `the instance offers no sessions: nothing is at ${new URL(url).host}. Set endpointUrl, and serve an endpoint there`
  return new SessionError(text, { code: NO_SESSIONS, isRefusal: !mayBeOffered })
}
