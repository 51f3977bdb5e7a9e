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
import { toConnectError } from './connect-errors.js'

/** How far a call has come: Connect reads its message before any code of ours sees it. */
export const stageKey = createContextKey<'arriving' | 'reached' | 'unreadable'>('arriving')

/** What is wrong with a message that cannot be read. */
export function malformedMessage({ input }: DescMethod): FieldViolation {
  return { field: 'body', message: `must be a valid ${input.typeName} of at most 64 KiB` }
}

/** Codes that Connect gives to messages that it cannot read: invalid_argument, resource_exhausted, internal. */
const GRPC_STATUSES = ['3', '8', '13']
/** Of a stream's messages: broken ones, and those that are too long. */
const MALFORMED_CODES = [Code.Internal, Code.ResourceExhausted]
const CONNECT_STATUSES = [400, 429, 500]
const CONNECT_CODES = ['invalid_argument', 'resource_exhausted', 'internal']
const GRPC_WEB_STATUS = /grpc-status: ?(\d+)/i
/** In the last envelope of a stream, behind its flags and length. */
const CONNECT_STREAM_CODE = /^.{5}\{"error":\{"code":"(\w+)"/s

/**
 * Wraps a handler so that a call whose message cannot be read comes to the method after all, marked `malformed`, and
 * is refused there: counted, limited and answered like any other bad input. Connect by itself calls broken protobuf an
 * internal error.
 */
export function withMalformedRequests(handler: UniversalHandler): UniversalHandler {
  const answer = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await begin(await handler(request))
    if (request.contextValues?.get(stageKey) !== 'arriving') return response
    // What has not come to the method is an error, and short.
    const whole = await readWhole(response)
    if (!isMalformed(whole)) return whole
    request.contextValues.set(stageKey, 'unreadable')
    return handler({ ...request, header: headerOfEmpty(request), body: emptyBody(request) })
  }
  return Object.assign(answer, handler)
}

/**
 * Refuses messages that cannot be read as invalid arguments, for services that have no guard. Connect reads the message
 * of a unary call before interceptors run, so that one also needs `withMalformedRequests`.
 */
export const rejectMalformed: Interceptor = (next) => async (request) => {
  const refusal = () => toConnectError(invalidArgument([malformedMessage(request.method)]))
  if (request.stream) return next({ ...request, message: readable(request.message, refusal) })
  if (request.contextValues.get(stageKey) === 'unreadable') throw refusal()
  request.contextValues.set(stageKey, 'reached')
  return next(request)
}

async function* readable<T>(messages: AsyncIterable<T>, refusal: () => ConnectError): AsyncGenerator<T> {
  try {
    yield* messages
  } catch (thrown) {
    throw thrown instanceof ConnectError && MALFORMED_CODES.includes(thrown.code) ? refusal() : thrown
  }
}

/** A method runs only when its answer is asked for: reads the first part of it, and puts that back. */
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
  // The trailer is there only when the body has been read.
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

/** A message without fields, in the encoding of the one that could not be read. */
function emptyBody({ header }: UniversalServerRequest): AsyncIterable<Uint8Array> {
  const contentType = header.get('content-type') ?? ''
  const message = contentType.includes('json') ? new TextEncoder().encode('{}') : new Uint8Array()
  const isEnveloped = /grpc|connect\+/.test(contentType)
  return createAsyncIterable([isEnveloped ? encodeEnvelope(0, message) : message])
}
