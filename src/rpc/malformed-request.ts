import type { DescMethod } from '@bufbuild/protobuf'
import { Code, ConnectError, createContextKey, type Interceptor } from '@connectrpc/connect'
import {
  createAsyncIterable,
  encodeEnvelope,
  readAllBytes,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from '@connectrpc/connect/protocol'
import { type FieldViolation, invalidArgument } from '../domain/errors.js'
import { MAX_BODY_KIB } from '../domain/field-rules.js'
import { toConnectError } from './connect-errors.js'

/** The stage of a call: Connect reads its message before any code of this service runs. */
export const stageKey = createContextKey<'arriving' | 'reached' | 'unreadable'>('arriving')

/** The violation of a message that cannot be read. */
export function malformedMessage({ input }: DescMethod): FieldViolation {
  return { field: 'body', message: `must be a valid ${input.typeName} of at most ${MAX_BODY_KIB} KiB` }
}

/** The codes that Connect uses for messages that it cannot read: invalid_argument, resource_exhausted, internal. */
const GRPC_STATUSES = ['3', '8', '13']
/** The codes for a stream's messages that are malformed or too long. */
const MALFORMED_CODES = [Code.Internal, Code.ResourceExhausted]
const CONNECT_STATUSES = [400, 429, 500]
const CONNECT_CODES = ['invalid_argument', 'resource_exhausted', 'internal']
const GRPC_WEB_STATUS = /grpc-status: ?(\d+)/i
/** The code in the last envelope of a stream, after its flags and length. */
const CONNECT_STREAM_CODE = /^.{5}\{"error":\{"code":"(\w+)"/s

/**
 * Wraps a handler so that a call whose message cannot be read reaches the method, marked as `unreadable`. The method
 * rejects it, so that it is counted, limited and reported like any other bad input. Without this, Connect reports
 * malformed protobuf as an internal error.
 */
export function withMalformedRequests(handler: UniversalHandler): UniversalHandler {
  const wrapped = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await begin(await handler(request))
    if (request.contextValues?.get(stageKey) !== 'arriving') return response
    // A call that did not reach the method has an error as its response, which is short.
    const whole = await readWhole(response)
    if (!isMalformed(whole)) return whole
    request.contextValues.set(stageKey, 'unreadable')
    return handler({ ...request, header: headerOfEmpty(request), body: emptyBody(request) })
  }
  return Object.assign(wrapped, handler)
}

/**
 * Rejects messages that cannot be read as invalid arguments, for services that have no middleware. Connect reads the
 * message of a unary call before interceptors run, so unary calls also need `withMalformedRequests`.
 */
export const rejectMalformed: Interceptor = (next) => async (request) => {
  const rejection = () => toConnectError(invalidArgument([malformedMessage(request.method)]))
  if (request.stream) return next({ ...request, message: readable(request.message, rejection) })
  if (request.contextValues.get(stageKey) === 'unreadable') throw rejection()
  request.contextValues.set(stageKey, 'reached')
  return next(request)
}

async function* readable<T>(messages: AsyncIterable<T>, rejection: () => ConnectError): AsyncGenerator<T> {
  try {
    yield* messages
  } catch (thrown) {
    throw thrown instanceof ConnectError && MALFORMED_CODES.includes(thrown.code) ? rejection() : thrown
  }
}

/** Reads the first part of the response and puts it back, because a method runs only when its response is read. */
async function begin(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  if (response.body === undefined) return response
  const rest = response.body[Symbol.asyncIterator]()
  const first = await rest.next()
  let isFirstGiven = false
  const body: AsyncIterableIterator<Uint8Array> = {
    async next() {
      if (isFirstGiven) return rest.next()
      isFirstGiven = true
      return first
    },
    async return(value) {
      return (await rest.return?.(value)) ?? { done: true, value }
    },
    async throw(error) {
      return (await rest.throw?.(error)) ?? { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => body,
  }
  // The trailer exists only after the body has been read.
  return {
    status: response.status,
    header: response.header,
    get trailer() {
      return response.trailer
    },
    body,
  }
}

interface WholeResponse extends UniversalServerResponse {
  readonly bytes: Uint8Array
}

async function readWhole(response: UniversalServerResponse): Promise<WholeResponse> {
  const bytes =
    response.body === undefined
      ? new Uint8Array()
      : await readAllBytes(response.body, Number.MAX_SAFE_INTEGER)
  return { ...response, bytes, body: response.body && createAsyncIterable([bytes]) }
}

function isMalformed({ status, trailer, bytes }: WholeResponse): boolean {
  if (status !== 200) return CONNECT_STATUSES.includes(status)
  const text = Buffer.from(bytes).toString('latin1')
  const grpcStatus = trailer?.get('grpc-status') ?? GRPC_WEB_STATUS.exec(text)?.[1]
  const connectCode = CONNECT_STREAM_CODE.exec(text)?.[1]
  return GRPC_STATUSES.includes(grpcStatus ?? '') || CONNECT_CODES.includes(connectCode ?? '')
}

function headerOfEmpty({ header }: UniversalServerRequest): Headers {
  const copy = new Headers(header)
  for (const name of ['content-length', 'content-encoding', 'grpc-encoding']) copy.delete(name)
  return copy
}

/** A message without fields, in the encoding of the malformed one. */
function emptyBody({ header }: UniversalServerRequest): AsyncIterable<Uint8Array> {
  const contentType = header.get('content-type') ?? ''
  const message = contentType.includes('json') ? new TextEncoder().encode('{}') : new Uint8Array()
  const isEnveloped = /grpc|connect\+/.test(contentType)
  return createAsyncIterable([isEnveloped ? encodeEnvelope(0, message) : message])
}
