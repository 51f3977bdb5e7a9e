import { type FieldViolation, REASONS, type Reason } from '../../../src/domain/errors.js'

/**
 * Why a call failed: a reason of the service, or one that only the client can know. CONNECTION_FAILED: no whole answer
 * came. TIMED_OUT: not within `timeoutMs`. CANCELLED: by the caller's signal. ANSWER_INVALID: the base URL does not lead to
 * an aggregator that this client understands.
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
  /** Every bad field of what the caller gave. */
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

/** An answer that is not a success. */
export interface FailedAnswer {
  readonly status: number
  readonly retryAfter: string | null
  /** The body's JSON; undefined when it has none. */
  readonly body: unknown
}

const TOO_MANY_REQUESTS = 429
const SERVER_ERRORS = 500

/** A failed answer with the reason that the instance gave, or else with the client's own. */
export function fromAnswer(answer: FailedAnswer): AggregatorError {
  const { status, body } = answer
  const { error, code, details, quoteId } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >
  const retryAfterSeconds = readSeconds(answer.retryAfter)
  if (isReason(code)) {
    return new AggregatorError(code, typeof error === 'string' ? error : `The instance answered ${code}.`, {
      violations: readViolations(details),
      quoteId: typeof quoteId === 'string' ? quoteId : undefined,
      retryAfterSeconds,
    })
  }
  // A proxy answers so while it has no instance behind it.
  if (code === undefined && (status >= SERVER_ERRORS || status === TOO_MANY_REQUESTS)) {
    const message = `The instance cannot be reached: HTTP status ${status}.`
    return new AggregatorError('CONNECTION_FAILED', message, { retryAfterSeconds })
  }
  return notAnAggregator(`HTTP status ${status}`)
}

/** The error for an answer that no aggregator gives. @param what has come instead */
export function notAnAggregator(what: string, cause?: unknown): AggregatorError {
  const message = `The base URL does not lead to an aggregator that this client understands: ${what}.`
  return new AggregatorError('ANSWER_INVALID', message, { cause })
}

/** The error for what a caller gave, naming every bad field. */
export function invalidCall(violations: readonly FieldViolation[], cause?: unknown): AggregatorError {
  const said = violations.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new AggregatorError('INVALID_ARGUMENT', `The call is not valid: ${said}.`, { violations, cause })
}

/** What of the service's reasons a caller can be told. */
function isReason(code: unknown): code is Reason {
  return typeof code === 'string' && Object.hasOwn(REASONS, code)
}

function readViolations(details: unknown): FieldViolation[] {
  if (!Array.isArray(details)) return []
  return details.flatMap((detail) => {
    const { field, message } = detail ?? {}
    return typeof field === 'string' && typeof message === 'string' ? [{ field, message }] : []
  })
}

/** Reads `Retry-After` in seconds, as aggregators write it. */
function readSeconds(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
