import { create, toBinary } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type OpenSessionRequest,
  OpenSessionRequestSchema,
  type OpenSessionResponse,
  OpenSessionResponseSchema,
} from '../../../gen/aggregator/v1/session_pb.js'
import { invalidArgument, ServiceError } from '../../../packages/protocol/src/errors.js'
import { MAX_BODY_KIB } from '../../../packages/protocol/src/field-rules.js'
import {
  type InstanceMessage,
  MAX_HELLO_BYTES,
  type SessionConnection,
  type SessionPeer,
} from '../../sessions/messages.js'
import { type RpcRequest, requestKey, toCallContext } from '../call-context.js'
import { toSessionEvent, toSessionMessage, toSolverMessage } from '../convert/convert-sessions.js'
import type { SolverSessions } from './solver-sessions.js'

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

/** The messages of a session to a solver. */
type SessionStream = ReturnType<typeof createSessionStream>

interface WaitingMessage {
  readonly message: OpenSessionResponse
  readonly bytes: number
}

/** How long a solver may take to read the end and to close its side. */
const END_TIMEOUT_MS = 5000
/** An empty message in a field that no version has. */
const UNKNOWN_FIELD = { no: 1000, wireType: WireType.LengthDelimited, data: new Uint8Array([0]) }

/** Builds the stream. */
function createSessionStream(call: RpcRequest) {
  const waiting: WaitingMessage[] = []
  let waitingBytes = 0
  let isReady = false
  let end: { readonly error: ServiceError | undefined } | undefined
  /** Wakes the generator; undefined while a message is written. */
  let wake: (() => void) | undefined
  let onDrained: (() => void)[] = []

  function push(message: OpenSessionResponse): void {
    const bytes = toBinary(OpenSessionResponseSchema, message).length
    waiting.push({ message, bytes })
    waitingBytes += bytes
    wake?.()
  }

  function send(message: InstanceMessage): void {
    if (end !== undefined) return
    if (message.type === 'events') for (const entry of message.entries) push(toSessionEvent(entry))
    else push(toSessionMessage(message))
    if (message.type !== 'ready') return
    isReady = true
    call.keepOpen()
  }

  function finish(error: ServiceError | undefined): void {
    if (end !== undefined) return
    end = { error }
    // Also when the solver goes on sending: what it sends is not read any more.
    setTimeout(call.abandon, END_TIMEOUT_MS).unref()
    resolveDrained()
    wake?.()
  }

  function resolveDrained(): void {
    const resolvers = onDrained
    onDrained = []
    for (const resolve of resolvers) resolve()
  }

  const connection: SessionConnection = {
    send,
    sendUnknown() {
      if (end === undefined)
        push(Object.assign(create(OpenSessionResponseSchema), { $unknown: [UNKNOWN_FIELD] }))
    },
    unsentBytes: () => waitingBytes + call.unsentBytes(),
    drained: () =>
      end !== undefined || (waitingBytes === 0 && wake !== undefined)
        ? Promise.resolve()
        : new Promise((resolve) => void onDrained.push(resolve)),
    end(error) {
      call.recordError(error)
      finish(error)
    },
  }

  return {
    connection,
    /** Yields each message once those before have left the process. @throws ServiceError at the end */
    async *messages(): AsyncGenerator<OpenSessionResponse> {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) {
          waitingBytes -= next.bytes
          yield next.message
          continue
        }
        resolveDrained()
        if (end?.error !== undefined) throw end.error
        if (end !== undefined) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
    },
    /** Ends the messages without an error: the solver has left. */
    leave: (): void => finish(undefined),
    isReady: (): boolean => isReady,
    hasEnded: (): boolean => end !== undefined,
  }
}
