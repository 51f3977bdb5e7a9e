import {
  chainNotSupported,
  type FieldViolation,
  invalidArgument,
  isOutage,
  type Reason,
  toServiceError,
} from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'
import type { RequestCounters } from '../telemetry/request-counters.js'
import { malformedMessage } from './malformed-request.js'
import type { ChainMessage, Method, Protocol, RequestContext } from './method.js'
import type { Client, RateLimits } from './rate-limits.js'

/** A method with the checks that all methods share. RPC handlers and REST routes both call it. */
export interface MethodHandler {
  readonly desc: Method['desc']
  /** @throws ServiceError CHAIN_NOT_SUPPORTED */
  assertChain(chainId: number | undefined): void
  /**
   * Checks the chain of a call, then counts the call; if possible before its body is read.
   * @param chainId undefined stands for text that is not a chain id
   * @throws ServiceError CHAIN_NOT_SUPPORTED or RATE_LIMITED
   */
  checkLimits(chainId: number | undefined, client: Client): Promise<void>
  /**
   * Handles a call after `checkLimits`, as `Method` does; without a promise when it does not have to wait.
   * @param malformed fields that could not be read into the message
   * @throws ServiceError and nothing else; the log has unexpected errors under the request's id
   */
  handle(
    message: ChainMessage,
    call: RequestContext,
    malformed?: readonly FieldViolation[],
  ): Promise<object> | object
  /**
   * Rejects a call whose message could not be read. It also counts against the method's limit.
   * @throws ServiceError INVALID_ARGUMENT or RATE_LIMITED
   */
  rejectMalformed(client: Client): Promise<never>
  /**
   * Counts a call that has ended.
   * @param seconds from the request to its response
   */
  count(protocol: Protocol, result: Reason | 'OK', seconds: number): void
}

interface MiddlewareOptions {
  readonly supportedChains: readonly number[]
  readonly rateLimits: RateLimits
  readonly counter: RequestCounters
  readonly log: Logger
}

/** Builds the middleware: the function that it returns wraps a method. */
export function createMiddleware(options: MiddlewareOptions): (method: Method) => MethodHandler {
  const { rateLimits, counter, log } = options
  const supported = new Set(options.supportedChains)

  function assertChain(chainId: number | undefined): void {
    if (chainId !== undefined && supported.has(chainId)) return
    throw chainNotSupported(options.supportedChains)
  }

  return (method) => {
    const name = `${method.desc.parent.typeName}/${method.desc.name}`
    return {
      desc: method.desc,
      assertChain,
      checkLimits(chainId, client) {
        if (chainId !== undefined && supported.has(chainId)) return rateLimits.consume(method.limit, client)
        return rateLimits.consume('global', client).then(() => assertChain(chainId))
      },
      handle(message, call, malformed = []) {
        const fail = (thrown: unknown): never => {
          const error = toServiceError(thrown)
          if (error.cause !== undefined) {
            log[isOutage(error.reason) ? 'debug' : 'error'](
              { requestId: call.requestId, method: name, reason: error.reason, err: error.cause },
              error.message,
            )
          }
          if (error.retryAfterSeconds !== undefined)
            call.setHeader('Retry-After', String(error.retryAfterSeconds))
          throw error
        }
        try {
          const response = method.handle(message, call, malformed)
          return response instanceof Promise ? response.catch(fail) : response
        } catch (thrown) {
          return fail(thrown)
        }
      },
      async rejectMalformed(client) {
        await rateLimits.consume(method.limit, client)
        throw invalidArgument([malformedMessage(method.desc)])
      },
      count: counter.of(name),
    }
  }
}
