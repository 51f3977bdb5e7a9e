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

/** A method with everything around it that holds for all of them; RPC handlers and REST routes call the same. */
export interface MethodHandler {
  readonly desc: Method['desc']
  /** @throws ServiceError CHAIN_NOT_SUPPORTED */
  assertChain(chainId: number | undefined): void
  /**
   * Lets a call in, before its body is read where that can be: checks the chain, then counts the call.
   * @param chainId undefined stands for text that is no chain id
   * @throws ServiceError CHAIN_NOT_SUPPORTED or RATE_LIMITED
   */
  checkLimits(chainId: number | undefined, client: Client): Promise<void>
  /**
   * Answers a call that was let in, as `Method` does: at once where nothing has to be waited for.
   * @param unreadable fields that could not be read into the message
   * @throws ServiceError and nothing else; what was unforeseen is in the log under the request's id
   */
  answer(
    message: ChainMessage,
    call: RequestContext,
    malformed?: readonly FieldViolation[],
  ): Promise<object> | object
  /**
   * Refuses a call whose message could not be read; it counts against the method's limit all the same.
   * @throws ServiceError INVALID_ARGUMENT or RATE_LIMITED
   */
  rejectMalformed(client: Client): Promise<never>
  /**
   * Counts a call that has ended.
   * @param seconds from the request to its answer
   */
  count(protocol: Protocol, result: Reason | 'OK', seconds: number): void
}

interface MiddlewareOptions {
  readonly supportedChains: readonly number[]
  readonly rateLimits: RateLimits
  readonly counter: RequestCounters
  readonly log: Logger
}

/** Builds the guard: what it returns wraps a method. */
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
      answer(message, call, malformed = []) {
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
          const answer = method.answer(message, call, malformed)
          return answer instanceof Promise ? answer.catch(fail) : answer
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
