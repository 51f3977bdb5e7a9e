import type { CallContext, Protocol } from '../../domain/client.js'
import { isOutage, type ServiceError, toServiceError } from '../../domain/errors.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { Outcome } from '../method.js'

interface StreamOutcomesOptions {
  /** The name of the method, with its service. */
  readonly method: string
  readonly metrics: Pick<Metrics, 'requests'>
  readonly log: Logger
}

/** Counts how the streams of a method ended, and logs what went wrong within the service. */
export function createStreamOutcomes({ method, metrics, log }: StreamOutcomesOptions) {
  const count = (protocol: Protocol, reason: Outcome) => metrics.requests.inc({ method, protocol, reason })
  return {
    count,
    /** Counts the error that ends a stream or does not let it open. @returns the error as callers may see it */
    reject(
      { protocol, requestId }: Pick<CallContext, 'protocol' | 'requestId'>,
      thrown: unknown,
    ): ServiceError {
      const error = toServiceError(thrown)
      const level = isOutage(error.reason) ? 'debug' : 'error'
      if (error.cause !== undefined) log[level]({ requestId, method, err: error.cause }, error.message)
      count(protocol, error.reason)
      return error
    },
  }
}
