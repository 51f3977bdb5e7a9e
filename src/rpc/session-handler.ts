import { toBinary } from '@bufbuild/protobuf'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type OpenSessionRequest,
  OpenSessionRequestSchema,
  type OpenSessionResponse,
} from '../../gen/aggregator/v1/session_pb.js'
import { invalidArgument, ServiceError, toServiceError } from '../domain/errors.js'
import { MAX_BODY_KIB } from '../domain/field-rules.js'
import { MAX_HELLO_BYTES, type SessionPeer } from '../sessions/messages.js'
import { toConnectError } from './connect-errors.js'
import { continueAfterFirst, formatOf, isFailed } from './continuation.js'
import { toSolverMessage } from './convert-sessions.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { createSessionStream, type SessionStream } from './session-stream.js'
import type { SolverSessions } from './solver-sessions.js'

/** Codes of errors that say that the client has left. */
const ENDINGS = [Code.Canceled, Code.DeadlineExceeded, Code.Aborted, Code.Unavailable]

/**
 * Builds Connect's handler of OpenSession. It sends the challenge; the other messages follow without Connect, which would
 * write each of them by itself.
 */
export function toSessionHandler(sessions: SolverSessions) {
  return async function* (
    requests: AsyncIterable<OpenSessionRequest>,
    context: HandlerContext,
  ): AsyncGenerator<OpenSessionResponse> {
    // Connect calls this function also to write the error that ends a session.
    if (isFailed(context.values)) for await (const _ of requests);
    const { recordReached, recordError } = context.values.get(requestKey)
    recordReached()
    try {
      yield begin(sessions, requests, context)
    } catch (thrown) {
      const error = toServiceError(thrown)
      recordError(error)
      throw toConnectError(error)
    }
  }
}

/** @returns the challenge */
function begin(
  sessions: SolverSessions,
  requests: AsyncIterable<OpenSessionRequest>,
  context: HandlerContext,
): OpenSessionResponse {
  if (context.protocolName !== 'grpc') throw onlyGrpc()
  const request = context.values.get(requestKey)
  const { requestId, address } = toRpcContext(context)
  const stream = createSessionStream(formatOf(context), request)
  const caller = { protocol: 'grpc', requestId, address, host: request.hostOf() } as const
  const peer = sessions.accept(stream.connection, caller)
  continueAfterFirst(context, (signal) => {
    const leave = () => {
      stream.leave()
      peer.leave()
    }
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return stream.next
  })
  void receiveAll(requests, peer, stream, sessions)
  return stream.takeChallenge()
}

/** Reads messages for as long as the session lasts. It leaves the iterator open: its end would cut the response. */
async function receiveAll(
  requests: AsyncIterable<OpenSessionRequest>,
  peer: SessionPeer,
  stream: SessionStream,
  { readHello }: SolverSessions,
): Promise<void> {
  const iterator = requests[Symbol.asyncIterator]()
  try {
    for (;;) {
      if (stream.hasEnded()) return
      const { done, value } = await iterator.next()
      if (done) break
      peer.receive(() => {
        if (!stream.isReady()) assertShort(value)
        return toSolverMessage(value, readHello)
      })
    }
    stream.leave()
    peer.leave()
  } catch (thrown) {
    const hasLeft = thrown instanceof ConnectError && ENDINGS.includes(thrown.code)
    if (hasLeft) peer.leave()
    else peer.reject(malformed())
  }
}

function assertShort(message: OpenSessionRequest): void {
  if (toBinary(OpenSessionRequestSchema, message).length <= MAX_HELLO_BYTES) return
  throw invalidArgument([{ field: 'body', message: `must be at most ${MAX_HELLO_BYTES} bytes before ready` }])
}

function malformed(): ServiceError {
  const { typeName } = OpenSessionRequestSchema
  const message = `must be a valid ${typeName} of at most ${MAX_BODY_KIB} KiB`
  return invalidArgument([{ field: 'body', message }])
}

function onlyGrpc(): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', 'OpenSession takes gRPC over HTTP/2 only.')
}
