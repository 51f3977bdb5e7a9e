import type { DescMethod } from '@bufbuild/protobuf'
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextKey,
  createContextValues,
  type Interceptor,
} from '@connectrpc/connect'
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol'
import { invalidArgument, type Reason, ServiceError, toServiceError } from '../domain/errors.js'
import { MAX_BODY_KIB } from '../domain/field-rules.js'
import { toConnectError } from './connect-errors.js'
import type { Protocol } from './method.js'
import type { Client } from './rate-limits.js'
import { requestKey } from './rpc-context.js'

/** The limits of a method, and the count of the calls that do not reach it. */
export interface Admission {
  /** Counts a call. @throws ServiceError RATE_LIMITED */
  checkLimits(client: Client): Promise<void>
  /**
   * Counts a call that was rejected before it reached the method.
   * @param seconds from the request to its rejection
   */
  countRejected(protocol: Protocol, reason: Reason, seconds: number): void
}

/** For gRPC's own services: no limits, and nothing to count. */
export const NO_LIMITS: Admission = { checkLimits: async () => {}, countRejected: () => {} }

/** Whether a call has reached its method: Connect reads the message of a call with one message before. */
const reachedKey = createContextKey(false)
/** Whether `withAdmission` has rejected a call, so that reading its message throws the rejection. */
const rejectedKey = createContextKey(false)

/** Codes of errors that come from the connection or the deadline, and not from the bytes of a message. */
const ENDINGS = [Code.Canceled, Code.DeadlineExceeded, Code.Aborted, Code.Unavailable]

/** Marks a call whose messages could be read. `withAdmission` needs it in every service. */
export const markReached: Interceptor = (next) => (request) => {
  if (request.stream) return next({ ...request, message: marked(request) })
  request.contextValues.set(reachedKey, true)
  return next(request)
}

async function* marked<T>({ message: messages, method, contextValues }: Marked<T>): AsyncGenerator<T> {
  const hasOneMessage = method.methodKind === 'server_streaming'
  let count = 0
  try {
    for await (const message of messages) {
      count++
      if (!hasOneMessage) contextValues.set(reachedKey, true)
      yield message
    }
  } catch (thrown) {
    const isEnding = thrown instanceof ConnectError && ENDINGS.includes(thrown.code)
    throw isEnding || contextValues.get(rejectedKey) ? thrown : toConnectError(malformed(method))
  }
  if (!hasOneMessage || count === 1) contextValues.set(reachedKey, true)
}

interface Marked<T> {
  readonly message: AsyncIterable<T>
  readonly method: DescMethod
  readonly contextValues: ContextValues
}

/**
 * Wraps the handler of a method so that each call counts against its limit before its message is read. A message that
 * cannot be read is rejected as an invalid argument and counted: Connect would report broken protobuf as an internal error.
 */
export function withAdmission(handler: UniversalHandler, admission: Admission): UniversalHandler {
  const admit = async (given: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const start = performance.now()
    const request = { ...given, contextValues: given.contextValues ?? createContextValues() }
    const { ip, recordError } = request.contextValues.get(requestKey)
    const count = (error: ServiceError) => {
      recordError(error)
      admission.countRejected(protocolOf(request), error.reason, (performance.now() - start) / 1000)
    }
    const reject = (error: ServiceError) => {
      count(error)
      return failCall(handler, request, toConnectError(error))
    }
    const header: [string, string][] = []
    const client = {
      address: ip,
      setHeader: (name: string, value: string) => void header.push([name, value]),
    }
    const limited = await admission.checkLimits(client).then(() => undefined, toServiceError)
    if (limited !== undefined) return withHeader(await reject(limited), header)
    const response = await handler(request)
    // The handler returns with the first bytes of the response, so the call has reached its method by now, or never will.
    if (request.contextValues.get(reachedKey)) return withHeader(response, header)
    if (response.status === METHOD_NOT_ALLOWED || request.signal.aborted) {
      count(response.status === METHOD_NOT_ALLOWED ? methodNotAllowed() : malformed(handler.method))
      return withHeader(response, header)
    }
    return withHeader(await reject(malformed(handler.method)), header)
  }
  return Object.assign(admit, handler)
}

/** Whether a call was rejected before its method: reading its messages throws the rejection. */
export function isRejected(contextValues: ContextValues): boolean {
  return contextValues.get(rejectedKey)
}

/** Marks a call of a method that answers before it reads a message. */
export function recordReached(contextValues: ContextValues): void {
  contextValues.set(reachedKey, true)
}

const METHOD_NOT_ALLOWED = 405

function methodNotAllowed(): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', 'This path takes POST.')
}

/** The error of a message that cannot be read. */
export function malformed(method: DescMethod): ServiceError {
  return invalidArgument([malformedMessage(method)])
}

/** The violation of a message that cannot be read. */
function malformedMessage({ input }: DescMethod) {
  return { field: 'body', message: `must be a valid ${input.typeName} of at most ${MAX_BODY_KIB} KiB` }
}

/**
 * Calls a handler with a body that fails, so that Connect writes the error in the protocol of the call. The method is not
 * reached.
 */
export function failCall(
  handler: UniversalHandler,
  request: UniversalServerRequest,
  error: ConnectError,
): Promise<UniversalServerResponse> {
  const contextValues = request.contextValues ?? createContextValues()
  contextValues.set(rejectedKey, true)
  const header = new Headers(request.header)
  header.delete('content-length')
  return handler({ ...request, header, contextValues, body: failing(error) })
}

// biome-ignore lint/correctness/useYield: the body has no bytes
async function* failing(error: ConnectError): AsyncGenerator<Uint8Array> {
  throw error
}

function withHeader(
  response: UniversalServerResponse,
  added: readonly [string, string][],
): UniversalServerResponse {
  if (response.header === undefined) return { ...response, header: new Headers([...added]) }
  for (const [name, value] of added) response.header.set(name, value)
  return response
}

function protocolOf({ header }: UniversalServerRequest): Protocol {
  const type = (header.get('content-type') ?? '').toLowerCase()
  if (type.startsWith('application/grpc-web')) return 'grpc-web'
  return type.startsWith('application/grpc') ? 'grpc' : 'connect'
}
