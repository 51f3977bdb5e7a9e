import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RawData, WebSocket } from 'ws'
import { invalidArgument, toServiceError } from '../../domain/errors.js'
import type { SolverSessions } from '../../rpc/streams/solver-sessions.js'
import type { LogRequest } from '../request-log.js'
import type { RejectOtherMethods } from '../rest/error-handler.js'
import { toLimitedCall } from '../rest/rest-context.js'
import { readSolverMessage } from './session-json.js'
import { SESSION_PATH } from './session-path.js'
import { createSocketConnection } from './session-socket.js'
import { registerWebSocket } from './websocket-route.js'

const IS_TEXT = invalidArgument([{ field: 'body', message: 'must be a text frame' }])
/** The error of ws for a message that is too long. */
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
/** The most messages that are read after the end: an honest solver may have answered all its requests before it reads the end. */
const MAX_AFTER_END = 2048

/**
 * Serves solver sessions on WebSockets, with the messages of OpenSession as JSON text.
 * @param server a scope that accepts WebSockets
 */
export function registerSessionRoute(
  server: FastifyInstance,
  sessions: SolverSessions,
  rejectOtherMethods: RejectOtherMethods,
  logRequest: LogRequest,
): void {
  registerWebSocket(server, {
    url: SESSION_PATH,
    check: (request, reply) => sessions.checkLimits(toLimitedCall(request, reply)),
    explanation: 'This path is a WebSocket for solvers.',
    serve: (socket, request) => serve(sessions, socket, request),
    logRequest,
  })
  rejectOtherMethods(SESSION_PATH, ['GET'], () => {})
  server.addHook('preClose', async () => sessions.endWhenIdle())
}

function serve(sessions: SolverSessions, socket: WebSocket, request: FastifyRequest): void {
  const connection = createSocketConnection(socket, request.raw.socket)
  const { id: requestId, clientAddress: address, host } = request
  try {
    const peer = sessions.accept(connection, { protocol: 'websocket', requestId, address, host })
    // In the place of the listener that cuts the connection: ws itself closes it with the code of the error.
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
