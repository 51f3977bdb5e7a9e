import type { DescMethod, Message } from '@bufbuild/protobuf'
import {
  assertSupported,
  type FieldViolation,
  invalidArgument,
  isOutage,
  type ServiceError,
  toServiceError,
} from '../../packages/protocol/src/errors.js'
import type { LimitName } from '../clients/api-key.js'
import type { CallContext, Protocol } from '../clients/call.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { Fields } from './fields.js'
import type { LimitedCall, RateLimits } from './limits/rate-limits.js'
import type { Admission, Method, Outcome } from './method.js'

/** The checks of a call before its message is read. */
export type Checks = ReturnType<typeof createChecks>

/**
 * Builds the checks of a method.
 * @param hasChain whether its requests name a chain. Otherwise the checks of the chain do nothing.
 * @param limits those that its calls count against
 */
export function createChecks(
  hasChain: boolean,
  limits: readonly LimitName[],
  supportedChains: readonly number[],
  rateLimits: RateLimits,
) {
  /** @throws ServiceError CHAIN_NOT_SUPPORTED */
  function assertChain(chainId: number | undefined): void {
    if (hasChain) assertSupported(chainId, supportedChains)
  }
  /** @throws ServiceError RATE_LIMITED, API_KEY_INVALID or API_KEY_REQUIRED */
  async function checkLimits(call: LimitedCall): Promise<void> {
    for (const limit of limits) await rateLimits.consume(limit, call)
  }
  return {
    hasChain,
    assertChain,
    checkLimits,
    /**
     * Does what `checkLimits` does for a request whose path names its chain. When the chain is not supported, the request counts against the
     * global limit, and needs no API key.
     * @param chainId undefined stands for text that is not a chain id
     * @throws ServiceError CHAIN_NOT_SUPPORTED, and those of `checkLimits`
     */
    async checkChainAndLimits(chainId: number | undefined, call: LimitedCall): Promise<void> {
      if (!hasChain || supportedChains.includes(chainId ?? 0)) return checkLimits(call)
      await rateLimits.count('global', call)
      assertChain(chainId)
    },
  }
}

/** A method with the checks that all methods share. RPC handlers and REST routes both call it. */
export interface MethodHandler extends Admission, Checks {
  readonly desc: Method['desc']
  /**
   * Handles a call after `assertChain` and `checkLimits`.
   * @param malformed fields that could not be read into the message
   * @returns the result of `Method.handle`
   * @throws ServiceError and nothing else; the log has unexpected errors under the request's id
   */
  handle(message: Message, call: CallContext, malformed?: readonly FieldViolation[]): Promise<object>
}

/** Builds the middleware: the function that it returns wraps a method. */
export function createMiddleware(
  supportedChains: readonly number[],
  rateLimits: RateLimits,
  metrics: Metrics,
  log: Logger,
): (method: Method) => MethodHandler {
  return (method) => {
    const { desc, hasChain, limit } = method
    const name = nameOf(desc)
    const { count, logCause } = createOutcomes(desc, { metrics, log })

    return {
      desc,
      ...createChecks(hasChain, [limit], supportedChains, rateLimits),
      async handle(message, call, malformed = []) {
        try {
          const fields = new Fields(malformed)
          const request = method.read(message, fields)
          if (fields.violations.length > 0) throw invalidArgument(fields.violations)
          return await method.handle(request, call)
        } catch (thrown) {
          const error = toServiceError(thrown)
          logCause(error, call)
          if (error.retryAfterSeconds !== undefined)
            call.setHeader('retry-after', String(error.retryAfterSeconds))
          throw error
        }
      },
      count(protocol, reason, seconds) {
        count(protocol, reason)
        metrics.requestSeconds.observe({ method: name }, seconds)
      },
    }
  }
}

function nameOf({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`
}

/** Counts how the calls of a method ended, and logs what went wrong within the service. */
export function createOutcomes(
  desc: DescMethod,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
) {
  const method = nameOf(desc)

  function count(protocol: Protocol, reason: Outcome): void {
    metrics.requests.inc({ method, protocol, reason })
  }

  function logCause(
    { cause, reason, message }: ServiceError,
    { requestId }: Pick<CallContext, 'requestId'>,
  ): void {
    const level = isOutage(reason) ? 'debug' : 'error'
    if (cause !== undefined) log[level]({ requestId, method, reason, err: cause }, message)
  }

  return {
    count,
    logCause,
    /** Counts the error that ends a stream or does not let it open. @returns the error as callers may see it */
    reject(call: Pick<CallContext, 'protocol' | 'requestId'>, thrown: unknown): ServiceError {
      const error = toServiceError(thrown)
      logCause(error, call)
      count(call.protocol, error.reason)
      return error
    },
  }
}
