import { WebSocket } from 'ws'
import type { Hex } from '../../../../src/domain/hex.js'
import { SessionError } from './session-error.js'
import {
  type InstanceMessage,
  readMessage,
  type SessionAnswer,
  type SessionOrderEvent,
  type SessionReady,
  type SessionRequest,
  type SessionResult,
  writeAnswer,
} from './session-messages.js'

/** Starts timers and gives random numbers. Tests have their own. */
export interface SessionTiming {
  /** Calls the action once, after a time. @returns a function that prevents it */
  readonly startTimer: (action: () => void, ms: number) => () => void
  /** A number of 0 to 1. */
  readonly random: () => number
}

interface ConnectionOptions {
  /** Of the WebSocket. */
  readonly url: string
  readonly startTimer: SessionTiming['startTimer']
  /** Signs the hello over the instance's challenge. @returns the whole message */
  readonly hello: (nonce: Hex) => Promise<string>
  readonly answer: (request: SessionRequest) => SessionAnswer | Promise<SessionAnswer>
  readonly onReady: (ready: SessionReady) => void
  readonly onResult: (result: SessionResult) => void
  readonly onEvent: (event: SessionOrderEvent, cursor: string) => void
  readonly onGoAway: (reconnectWithinMs: number) => void
  /** Called with what `hello` or `answer` has thrown. */
  readonly onError: (error: unknown) => void
  /** Called once, when the socket is closed. */
  readonly onClosed: (error: SessionError) => void
}

/** One connection to an instance, with a session on it once the instance has accepted the hello. */
export interface SessionConnection {
  /** Closes it, and destroys the socket when the instance does not close its side. @returns when it is closed */
  close(): Promise<void>
}

/** Time for the connection and the opening of the session. */
const OPENING_MS = 15_000
/** Silence of this many heartbeats means that the connection is dead. */
const DEAD_AFTER_HEARTBEATS = 2.5
/** Time for the instance to close its side. */
const CLOSING_MS = 1_000
/** The messages of an instance have a few hundred bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024

/** Opens a connection, and a session on it. */
export function openConnection(options: ConnectionOptions): SessionConnection {
  const { url, startTimer, hello, answer, onError } = options
  let phase: 'connected' | 'challenged' | 'ready' = 'connected'
  let heartbeatMs = 0
  let failure: SessionError | undefined
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES })
  let stopTimer = startTimer(() => fail('the instance did not open the session in time'), OPENING_MS)

  /** The socket is destroyed: the other side may be dead, or hostile. */
  function fail(message: string): void {
    failure ??= new SessionError(message)
    socket.terminate()
  }

  function send(text: string): void {
    if (socket.readyState === socket.OPEN) socket.send(text)
  }

  function expectPing(): void {
    stopTimer()
    const withinMs = DEAD_AFTER_HEARTBEATS * heartbeatMs
    stopTimer = startTimer(() => fail(`the instance has sent no ping for ${withinMs} ms`), withinMs)
  }

  async function introduce(nonce: Hex): Promise<void> {
    try {
      send(await hello(nonce))
    } catch (error) {
      onError(error)
      fail('the hello could not be signed')
    }
  }

  async function reply(id: string, request: SessionRequest | undefined): Promise<void> {
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
    if (message.type === 'error') {
      failure ??= new SessionError(message.error, { code: message.code, isRefusal: phase !== 'ready' })
      socket.terminate()
    } else if (phase === 'ready') {
      receiveInSession(message)
    } else if (phase === 'connected' && message.type === 'challenge') {
      phase = 'challenged'
      void introduce(message.nonce)
    } else if (phase === 'challenged' && message.type === 'ready') {
      phase = 'ready'
      heartbeatMs = message.heartbeatMs
      expectPing()
      options.onReady(message)
    } else {
      fail(`the instance has sent ${message.type} before the session was open`)
    }
  }

  function receiveInSession(message: InstanceMessage): void {
    switch (message.type) {
      case 'quoteRequest':
        void reply(message.id, message.request)
        break
      case 'result':
        options.onResult(message)
        break
      case 'event':
        options.onEvent(message.event, message.cursor)
        break
      case 'ping':
        expectPing()
        send(JSON.stringify({ type: 'pong', id: message.id }))
        break
      case 'goAway':
        options.onGoAway(message.reconnectWithinMs)
        break
      default:
        fail(`the instance has sent ${message.type} a second time`)
    }
  }

  socket.on('message', (data) => {
    if (socket.readyState !== socket.OPEN) return
    const message = read(data.toString())
    if (message !== undefined) receive(message)
  })
  socket.on('error', (error) => {
    failure ??= new SessionError(error.message, { cause: error })
  })
  const closed = new Promise<void>((resolve) => {
    socket.on('close', (code, reason) => {
      stopTimer()
      const words = reason.length > 0 ? `${code} ${reason}` : code
      options.onClosed(failure ?? new SessionError(`the connection was closed: ${words}`))
      resolve()
    })
  })

  return {
    close() {
      stopTimer()
      stopTimer = startTimer(() => socket.terminate(), CLOSING_MS)
      socket.close(1000)
      return closed
    },
  }
}
