import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RawData, WebSocket } from 'ws'
import { invalidArgument, type Reason, toServiceError } from '../../../packages/protocol/src/errors.js'
import { setMessageLimit } from '../../internals/ws.js'
import type { SolverSessions } from '../../rpc/streams/solver-sessions.js'
import { type InstanceMessage, MAX_MESSAGE_BYTES, type SessionConnection } from '../../sessions/messages.js'
import type { HttpContext } from '../context.js'
import { toLimitedCall } from '../request.js'
import { rejectOtherMethods } from '../rest/error-routes.js'
import { errorBody } from '../rest/rest-errors.js'
import { closeReason } from './close-with-error.js'
import { readSolverMessage, toSessionEventJson, toSessionJson } from './session-json.js'
import { SESSION_PATH } from './websocket-control.js'
import { registerWebSocket } from './websocket-upgrade.js'

const IS_TEXT = invalidArgument([{ field: 'body', message: 'must be a text frame' }])
/** The error of ws for a message that is too long. */
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
/**
 * The most messages that are read after the end: an honest solver may have answered all its requests before it reads the
 * end.
 */
const MAX_AFTER_END = 2048

/**
 * Serves solver sessions on WebSockets, with the messages of OpenSession as JSON text.
 * @param server a scope that accepts WebSockets
 */
export function registerSessionRoute(
  server: FastifyInstance,
  sessions: SolverSessions,
  context: HttpContext,
): void {
  registerWebSocket(server, {
    url: SESSION_PATH,
    check: (request, reply) => sessions.checkLimits(toLimitedCall(request, reply)),
    explanation: 'This path is a WebSocket for solvers.',
    serve: (socket, request) => serve(sessions, socket, request),
    logRequest: context.logRequest,
  })
  rejectOtherMethods(server, context, SESSION_PATH, ['GET'])
  server.addHook('preClose', async () => sessions.endWhenIdle())
}

function serve(sessions: SolverSessions, socket: WebSocket, request: FastifyRequest): void {
  const connection = createSocketConnection(socket, request.raw.socket)
  const { id: requestId, client, host } = request
  try {
    const peer = sessions.accept(connection, { protocol: 'websocket', requestId, client, host })
    // Instead of the listener that cuts the connection: ws itself closes it with the code of the error.
    socket.removeAllListeners('error').on('error', (error) => peer.reject(toMessageError(error)))
    let afterEnd = 0
    socket.on('message', (data, isBinary) => {
      if (socket.readyState === socket.OPEN) peer.receive(() => read(sessions, data, isBinary))
      // A solver that only sends is cut when its time to close the connection is over. It can still read the error.
      else if (++afterEnd > MAX_AFTER_END) socket.pause()
    })
    socket.once('close', peer.leave)
  } catch (thrown) {
    connection.end(toServiceError(thrown))
  }
}

function read({ readHello }: SolverSessions, data: RawData, isBinary: boolean) {
  if (isBinary) throw IS_TEXT
  return readSolverMessage(data as Buffer, readHello)
}

function toMessageError(error: NodeJS.ErrnoException) {
  const message =
    error.code === TOO_LONG ? 'must be at most 4 KiB before ready, and 64 KiB after' : 'must be valid frames'
  return invalidArgument([{ field: 'body', message }])
}

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
function createSocketConnection(webSocket: WebSocket, socket: Socket): SessionConnection {
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
