import { Code, ConnectError } from '@connectrpc/connect'
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../../gen/google/rpc/error_details_pb.js'
import { type FieldViolation, REASONS, type Reason } from '../../../src/domain/errors.js'

/**
 * Why a call failed: a reason of the service, or one that only the client can know. CONNECTION_FAILED: no whole answer
 * came. TIMED_OUT: not within `timeoutMs`. CANCELLED: by the caller's signal. ANSWER_INVALID: what answers there is no
 * aggregator that this client understands.
 */
export type ClientReason = Reason | 'CONNECTION_FAILED' | 'TIMED_OUT' | 'CANCELLED' | 'ANSWER_INVALID'

interface AggregatorErrorOptions {
  readonly violations?: readonly FieldViolation[]
  readonly quoteId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** What every method of the client throws; its message is a sentence for a person. */
export class AggregatorError extends Error {
  override readonly name = 'AggregatorError'
  readonly reason: ClientReason
  /** For INVALID_ARGUMENT, every bad field. */
  readonly violations: readonly FieldViolation[]
  /** Names the record of the quote that failed, when solvers were asked. */
  readonly quoteId: string | undefined
  /** When it is worth trying again. */
  readonly retryAfterSeconds: number | undefined

  constructor(reason: ClientReason, message: string, options: AggregatorErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.violations = options.violations ?? []
    this.quoteId = options.quoteId
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Codes that no network fault gives: without a reason beside them, something else than an aggregator has answered. */
const OTHERS_ANSWERS: readonly Code[] = [
  Code.NotFound,
  Code.Unimplemented,
  Code.Unauthenticated,
  Code.PermissionDenied,
]

/**
 * A failed call with the reason that the instance gave (decisions.md D7), or else the client's own.
 * @throws what was thrown, when it is none of a call
 */
export function toAggregatorError(thrown: unknown): AggregatorError {
  if (thrown instanceof AggregatorError) return thrown
  if (!(thrown instanceof ConnectError)) throw thrown
  const [info] = thrown.findDetails(ErrorInfoSchema)
  if (info !== undefined && isReason(info.reason))
    return fromService(thrown, info.reason, info.metadata.quoteId)
  const options = { cause: thrown }
  if (thrown.code === Code.Canceled)
    return new AggregatorError('CANCELLED', 'The call was cancelled.', options)
  if (thrown.code === Code.DeadlineExceeded) {
    return new AggregatorError('TIMED_OUT', 'The instance did not answer in time.', options)
  }
  if (info !== undefined || OTHERS_ANSWERS.includes(thrown.code)) {
    const message = `What answers there is no aggregator that this client understands: ${thrown.message}`
    return new AggregatorError('ANSWER_INVALID', message, options)
  }
  const message = `The instance cannot be reached, or the connection broke off: ${thrown.message}`
  return new AggregatorError('CONNECTION_FAILED', message, options)
}

function isReason(text: string): text is Reason {
  return Object.hasOwn(REASONS, text)
}

function fromService(error: ConnectError, reason: Reason, quoteId: string | undefined): AggregatorError {
  const [badRequest] = error.findDetails(BadRequestSchema)
  const [retry] = error.findDetails(RetryInfoSchema)
  const violations = badRequest?.fieldViolations.map(({ field, description }) => ({
    field,
    message: description,
  }))
  return new AggregatorError(reason, error.rawMessage, {
    violations: violations ?? [],
    quoteId,
    retryAfterSeconds: retry?.retryDelay === undefined ? undefined : Number(retry.retryDelay.seconds),
    cause: error,
  })
}
