import type { DescMethod } from '@bufbuild/protobuf'
import { ConnectError, type Interceptor } from '@connectrpc/connect'
import { codeFromString } from '@connectrpc/connect/protocol-connect'
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import { REASONS, type ServiceError, toServiceError } from '../../packages/protocol/src/errors.js'
import { requestKey } from './call-context.js'
import type { LimitedCall, RateLimits } from './limits/rate-limits.js'
import type { Admission, Outcome } from './method.js'

/**
 * Turns the errors of methods into those of RPC callers, and records them for the log. Connect's own errors stay as they are:
 * those of bytes that are not a message, and those of the connection.
 */
export const withErrors: Interceptor = (next) => async (request) => {
  const { recordError } = request.contextValues.get(requestKey)
  const fail = (thrown: unknown): never => {
    if (thrown instanceof ConnectError) throw thrown
    const error = toServiceError(thrown)
    recordError(error)
    throw toConnectError(error)
  }
  try {
    const response = await next(request)
    return response.stream ? { ...response, message: withFailure(response.message, fail) } : response
  } catch (thrown) {
    return fail(thrown)
  }
}

/**
 * Has `fail` map the errors of an iteration. It does not see what Connect throws into a stream: that is an error of writing to a
 * client that has left.
 */
function withFailure<T>(messages: AsyncIterable<T>, fail: (thrown: unknown) => never): AsyncIterable<T> {
  const iterator = messages[Symbol.asyncIterator]()
  const mapped: AsyncIterableIterator<T> = {
    next: () => iterator.next().catch(fail),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    async throw(thrown) {
      if (iterator.throw === undefined) throw thrown
      return iterator.throw(thrown)
    },
    [Symbol.asyncIterator]: () => mapped,
  }
  return mapped
}

/**
 * Counts the calls that reach their method, each when it has ended. A method that streams counts its streams itself, over all
 * transports.
 */
export function countCalls(admissions: ReadonlyMap<DescMethod, Admission>): Interceptor {
  return (next) => async (request) => {
    const admission = admissions.get(request.method)
    if (request.stream || admission === undefined) return next(request)
    const { protocol, recordReached } = request.contextValues.get(requestKey)
    recordReached()
    const start = performance.now()
    const count = (outcome: Outcome) => admission.count(protocol, outcome, (performance.now() - start) / 1000)
    try {
      const response = await next(request)
      count('OK')
      return response
    } catch (thrown) {
      count(toServiceError(thrown).reason)
      throw thrown
    }
  }
}

/** Counts each message that a caller sends on a stream against the global limit, also a broken one (docs/decisions.md, D8). */
export function limitMessages(rateLimits: RateLimits): Interceptor {
  async function* counted<T>(messages: AsyncIterable<T>, call: LimitedCall): AsyncGenerator<T> {
    const iterator = messages[Symbol.asyncIterator]()
    for (;;) {
      const result = await iterator.next().catch(async (thrown) => {
        await rateLimits.consume('global', call)
        throw thrown
      })
      if (result.done) return
      await rateLimits.consume('global', call)
      yield result.value
    }
  }

  return (next) => (request) => {
    if (!request.stream) return next(request)
    // The headers of the response are already sent when the second message comes.
    const call = { client: request.contextValues.get(requestKey).client, setHeader: () => {} }
    return next({ ...request, message: counted(request.message, call) })
  }
}

const ERROR_DOMAIN = 'aggregator.v1'

/**
 * Turns an error into that of RPC callers: its reason is in `google.rpc.ErrorInfo`, bad fields are in `BadRequest`, and
 * the time to wait is in `RetryInfo` (docs/decisions.md, D7, D8).
 */
export function toConnectError(error: ServiceError): ConnectError {
  const connectError = new ConnectError(error.message, codeFromString(REASONS[error.reason].rpc))
  const metadata: Record<string, string> = error.quoteId === undefined ? {} : { quoteId: error.quoteId }
  for (const [name, count] of Object.entries(error.reasons ?? {})) metadata[name] = String(count)
  const info = { reason: error.reason, domain: ERROR_DOMAIN, metadata }
  connectError.details.push({ desc: ErrorInfoSchema, value: info })
  if (error.violations.length > 0) {
    const fieldViolations = error.violations.map(({ field, message }) => ({ field, description: message }))
    connectError.details.push({ desc: BadRequestSchema, value: { fieldViolations } })
  }
  if (error.retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(error.retryAfterSeconds) }
    connectError.details.push({ desc: RetryInfoSchema, value: { retryDelay } })
  }
  return connectError
}
