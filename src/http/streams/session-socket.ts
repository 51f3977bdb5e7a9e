import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Reason } from '../../domain/errors.js'
import { setMessageLimit } from '../../internals/message-limit.js'
import { type InstanceMessage, MAX_MESSAGE_BYTES, type SessionConnection } from '../../sessions/messages.js'
import { errorBody } from '../rest/error-body.js'
import { toSessionEventJson, toSessionJson } from './session-json.js'
import { closeReason } from './websocket.js'

/** Close codes of open sessions by reason (RFC 6455, section 7.4). All others, and those of a refused hello, are 1008. */
const CLOSE_CODES: Partial<Record<Reason, number>> = {
  SHUTTING_DOWN: 1001,
  INTERNAL: 1011,
  SESSION_STALLED: 1013,
  SUBSCRIBER_TOO_SLOW: 1013,
  DATABASE_UNAVAILABLE: 1013,
}
const POLICY_VIOLATION = 1008
/** Reason of the close frame by which a replaced session is recognised. */
const REPLACED = 'replaced'
const UNKNOWN_MESSAGE = JSON.stringify({
  type: 'unknownType',
  text: 'A solver ignores types that it does not know.',
})
/** How long the solver may take to close its end. */
const CLOSE_TIMEOUT_MS = 5000

/** Makes a WebSocket the connection of a session. @param socket the connection below it */
export function createSocketConnection(webSocket: WebSocket, socket: Socket): SessionConnection {
  let isCorked = false
  let isReady = false
  let hasEnded = false
  let unwritten = 0
  let onDrained: (() => void)[] = []

  function onWritten(): void {
    if (--unwritten > 0) return
    const resolvers = onDrained
    onDrained = []
    for (const resolve of resolvers) resolve()
  }

  /** What is written in one turn of the event loop leaves together. */
  function write(text: string): void {
    if (!isCorked) {
      isCorked = true
      socket.cork()
      setImmediate(() => {
        isCorked = false
        socket.uncork()
      })
    }
    unwritten++
    webSocket.send(text, onWritten)
  }

  function send(message: InstanceMessage): void {
    if (webSocket.readyState !== webSocket.OPEN) {
      // The solver has sent a close frame, after which its connection may stay open for 30 seconds.
      if (!hasEnded) webSocket.terminate()
      return
    }
    if (message.type === 'ready') {
      isReady = true
      setMessageLimit(webSocket, MAX_MESSAGE_BYTES)
    }
    if (message.type === 'events') for (const entry of message.entries) write(toSessionEventJson(entry))
    else write(toSessionJson(message))
  }

  return {
    send,
    sendUnknown() {
      if (webSocket.readyState === webSocket.OPEN) write(UNKNOWN_MESSAGE)
    },
    unsentBytes: () => webSocket.bufferedAmount,
    drained: () =>
      unwritten === 0 ? Promise.resolve() : new Promise((resolve) => void onDrained.push(resolve)),
    end(error) {
      hasEnded = true
      if (webSocket.readyState === webSocket.OPEN) {
        write(JSON.stringify({ type: 'error', ...errorBody(error) }))
        const code = isReady ? CLOSE_CODES[error.reason] : undefined
        const reason = error.reason === 'SESSION_REPLACED' ? REPLACED : closeReason(error)
        webSocket.close(code ?? POLICY_VIOLATION, reason)
      }
      const timer = setTimeout(() => webSocket.terminate(), CLOSE_TIMEOUT_MS)
      webSocket.once('close', () => clearTimeout(timer))
    },
  }
}
