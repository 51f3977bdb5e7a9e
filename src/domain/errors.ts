/** How each reason travels: the RPC code by its Connect name, and the HTTP status on REST (docs/decisions.md, D7, D9). */
export const REASONS = {
  INVALID_ARGUMENT: { rpc: 'invalid_argument', http: 400 },
  CHAIN_NOT_SUPPORTED: { rpc: 'not_found', http: 404 },
  SOLVER_NOT_FOUND: { rpc: 'not_found', http: 404 },
  QUOTE_NOT_FOUND: { rpc: 'not_found', http: 404 },
  ROUTE_NOT_FOUND: { rpc: 'not_found', http: 404 },
  METHOD_NOT_ALLOWED: { rpc: 'unimplemented', http: 405 },
  SIGNATURE_INVALID: { rpc: 'unauthenticated', http: 401 },
  TIMESTAMP_OUT_OF_RANGE: { rpc: 'unauthenticated', http: 401 },
  TIMESTAMP_REUSED: { rpc: 'unauthenticated', http: 401 },
  BOND_INSUFFICIENT: { rpc: 'failed_precondition', http: 400 },
  ENDPOINT_REJECTED: { rpc: 'failed_precondition', http: 400 },
  SOLVER_BLOCKED: { rpc: 'permission_denied', http: 403 },
  SOLVER_LIMIT_REACHED: { rpc: 'failed_precondition', http: 400 },
  RATE_LIMITED: { rpc: 'resource_exhausted', http: 429 },
  NO_QUOTES: { rpc: 'unavailable', http: 503 },
  SOLVERS_BUSY: { rpc: 'unavailable', http: 503 },
  CHAIN_UNAVAILABLE: { rpc: 'unavailable', http: 503 },
  DATABASE_UNAVAILABLE: { rpc: 'unavailable', http: 503 },
  CURSOR_UNKNOWN: { rpc: 'out_of_range', http: 400 },
  STREAM_LIMIT_REACHED: { rpc: 'resource_exhausted', http: 503 },
  SUBSCRIBER_TOO_SLOW: { rpc: 'resource_exhausted', http: 503 },
  SHUTTING_DOWN: { rpc: 'unavailable', http: 503 },
  INTERNAL: { rpc: 'internal', http: 500 },
} as const

/** The closed list of reasons that a caller can meet. */
export type Reason = keyof typeof REASONS

/** One bad field of a request. */
export interface FieldViolation {
  /** The field's JSON name, such as `amount`. */
  readonly field: string
  /** What the field must be. */
  readonly message: string
}

interface ServiceErrorOptions {
  readonly violations?: readonly FieldViolation[]
  /** An HTTP status that says more than the reason's own, such as 413. */
  readonly httpStatus?: number
  /** When it is worth trying again. */
  readonly retryAfterSeconds?: number
  /** The quote whose record says more. */
  readonly quoteId?: string
  readonly cause?: unknown
}

/** An error that a caller may see: its message is a sentence for a person, its reason one of the closed list. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly reason: Reason
  readonly violations: readonly FieldViolation[]
  readonly httpStatus: number
  readonly retryAfterSeconds: number | undefined
  readonly quoteId: string | undefined

  constructor(reason: Reason, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.violations = options.violations ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.quoteId = options.quoteId
    this.httpStatus = options.httpStatus ?? REASONS[reason].http
  }
}

/** What an operator should read of an error: of one for callers, its cause. */
export function reasonOf(error: unknown): string {
  return String(error instanceof ServiceError ? (error.cause ?? error) : error)
}

/**
 * Turns whatever was thrown into an error that a caller may see. Anything unforeseen becomes INTERNAL, which says
 * nothing of the inside; the thrown thing stays on it as `cause`, for the log.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  return new ServiceError('INTERNAL', 'The service failed to answer this request.', { cause: thrown })
}

/** The error for bad input, naming every bad field. */
export function invalidArgument(violations: readonly FieldViolation[]): ServiceError {
  const fields = violations.map((violation) => violation.field).join(', ')
  return new ServiceError('INVALID_ARGUMENT', `The request is not valid: see ${fields}.`, { violations })
}

/** Whether errors of this reason come from an outage, which has a line of its own in the log. */
export function isOutage(reason: Reason): boolean {
  return reason === 'CHAIN_UNAVAILABLE' || reason === 'DATABASE_UNAVAILABLE'
}

/** As many chains are named. */
const MAX_NAMED_CHAINS = 20

/** The error of a chain that the instance does not serve, naming those that it serves. */
export function chainNotSupported(supportedChains: readonly number[]): ServiceError {
  const others = supportedChains.length - MAX_NAMED_CHAINS
  const named = supportedChains.slice(0, MAX_NAMED_CHAINS).join(', ')
  const list = others > 0 ? `${named} and ${others} more, see /health` : named
  return new ServiceError('CHAIN_NOT_SUPPORTED', `This chain is not supported here. Supported: ${list}.`)
}
