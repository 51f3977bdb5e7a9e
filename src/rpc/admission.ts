import type { DescMethod } from '@bufbuild/protobuf'
import {
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
import { invalidArgument, type Reason, type ServiceError, toServiceError } from '../domain/errors.js'
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

/** Whether a call has reached its method: Connect reads the first message before. */
const reachedKey = createContextKey(false)

/** Marks a call whose first message was read. `withAdmission` needs it in every service. */
export const markReached: Interceptor = (next) => (request) => {
  if (request.stream) return next({ ...request, message: marked(request.message, request.contextValues) })
  request.contextValues.set(reachedKey, true)
  return next(request)
}

async function* marked<T>(messages: AsyncIterable<T>, contextValues: ContextValues): AsyncGenerator<T> {
  for await (const message of messages) {
    contextValues.set(reachedKey, true)
    yield message
  }
  // A stream may end without a message.
  contextValues.set(reachedKey, true)
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
    const reject = (error: ServiceError) => {
      recordError(error)
      admission.countRejected(protocolOf(request), error.reason, (performance.now() - start) / 1000)
      return handler(rejecting(request, error))
    }
    const header = new Headers()
    const client = { address: ip, setHeader: (name: string, value: string) => header.set(name, value) }
    const limited = await admission.checkLimits(client).then(() => undefined, toServiceError)
    if (limited !== undefined) return withHeader(await reject(limited), header)
    const response = await handler(request)
    // The handler returns with the first bytes of the response, so the call has reached its method by now, or never will.
    if (request.contextValues.get(reachedKey) || request.signal.aborted) return withHeader(response, header)
    return withHeader(await reject(invalidArgument([malformedMessage(handler.method)])), header)
  }
  return Object.assign(admit, handler)
}

/** The violation of a message that cannot be read. */
function malformedMessage({ input }: DescMethod) {
  return { field: 'body', message: `must be a valid ${input.typeName} of at most ${MAX_BODY_KIB} KiB` }
}

/** The request with a body that fails, so that Connect writes the error in the protocol of the call. */
function rejecting(request: UniversalServerRequest, error: ServiceError): UniversalServerRequest {
  const header = new Headers(request.header)
  header.delete('content-length')
  return { ...request, header, body: failing(error) }
}

// biome-ignore lint/correctness/useYield: the body has no bytes
async function* failing(error: ServiceError): AsyncGenerator<Uint8Array> {
  throw toConnectError(error)
}

function withHeader(response: UniversalServerResponse, added: Headers): UniversalServerResponse {
  if (response.header === undefined) return { ...response, header: added }
  for (const [name, value] of added) response.header.set(name, value)
  return response
}

function protocolOf({ header }: UniversalServerRequest): Protocol {
  const type = header.get('content-type') ?? ''
  if (type.startsWith('application/grpc-web')) return 'grpc-web'
  return type.startsWith('application/grpc') ? 'grpc' : 'connect'
}
