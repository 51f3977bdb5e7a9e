import { toBinary } from '@bufbuild/protobuf'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type OpenSessionRequest,
  OpenSessionRequestSchema,
  type OpenSessionResponse,
} from '../../../gen/aggregator/v1/session_pb.js'
import { invalidArgument, ServiceError } from '../../domain/errors.js'
import { MAX_BODY_KIB } from '../../domain/field-rules.js'
import { MAX_HELLO_BYTES, type SessionPeer } from '../../sessions/messages.js'
import { requestKey, toCallContext } from '../call-context.js'
import { toSolverMessage } from '../convert/convert-sessions.js'
import type { SolverSessions } from '../services/solver-sessions.js'
import { createSessionStream, type SessionStream } from './session-stream.js'

/** Codes of errors that say that the client has left. */
const ENDINGS = [Code.Canceled, Code.DeadlineExceeded, Code.Aborted, Code.Unavailable]

/** Builds Connect's handler of OpenSession. Connect asks for a message when the solver has taken those before. */
export function toSessionHandler(sessions: SolverSessions) {
  return async function* (
    requests: AsyncIterable<OpenSessionRequest>,
    context: HandlerContext,
  ): AsyncGenerator<OpenSessionResponse> {
    const request = context.values.get(requestKey)
    request.recordReached()
    if (context.protocolName !== 'grpc') throw onlyGrpc()
    const stream = createSessionStream(request)
    const peer = sessions.accept(stream.connection, toCallContext(context))
    // A generator is not continued, so that no `finally` runs, when its client leaves while a message waits for it.
    const leave = () => {
      stream.leave()
      peer.leave()
    }
    context.signal.addEventListener('abort', leave)
    if (context.signal.aborted) leave()
    void receiveAll(requests, peer, stream, sessions)
    yield* stream.messages()
    if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
  }
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

/** A session ends with an error of its own, whatever a solver sends. */
function malformed(): ServiceError {
  const { typeName } = OpenSessionRequestSchema
  const message = `must be a valid ${typeName} of at most ${MAX_BODY_KIB} KiB`
  return invalidArgument([{ field: 'body', message }])
}

function onlyGrpc(): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', 'OpenSession takes gRPC over HTTP/2 only.')
}
