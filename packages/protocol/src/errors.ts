/** The RPC code of each reason by its Connect name, and its HTTP status on REST (docs/decisions.md, D7, D9). */
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
  API_KEY_INVALID: { rpc: 'unauthenticated', http: 401 },
  API_KEY_REQUIRED: { rpc: 'unauthenticated', http: 401 },
  BOND_INSUFFICIENT: { rpc: 'failed_precondition', http: 400 },
  ENDPOINT_REJECTED: { rpc: 'failed_precondition', http: 400 },
  SOLVER_BLOCKED: { rpc: 'permission_denied', http: 403 },
  SOLVER_LIMIT_REACHED: { rpc: 'failed_precondition', http: 400 },
  RATE_LIMITED: { rpc: 'resource_exhausted', http: 429 },
  NO_QUOTES: { rpc: 'failed_precondition', http: 503 },
  SOLVERS_BUSY: { rpc: 'unavailable', http: 503 },
  CHAIN_UNAVAILABLE: { rpc: 'unavailable', http: 503 },
  DATABASE_UNAVAILABLE: { rpc: 'unavailable', http: 503 },
  CURSOR_UNKNOWN: { rpc: 'out_of_range', http: 400 },
  STREAM_LIMIT_REACHED: { rpc: 'resource_exhausted', http: 503 },
  SESSIONS_OFF: { rpc: 'unimplemented', http: 501 },
  CHALLENGE_EXPIRED: { rpc: 'unauthenticated', http: 401 },
  AUDIENCE_REJECTED: { rpc: 'permission_denied', http: 403 },
  SESSION_LIMIT_REACHED: { rpc: 'resource_exhausted', http: 503 },
  SESSION_REPLACED: { rpc: 'aborted', http: 409 },
  SESSION_STALLED: { rpc: 'resource_exhausted', http: 503 },
  SUBSCRIBER_TOO_SLOW: { rpc: 'resource_exhausted', http: 503 },
  SHUTTING_DOWN: { rpc: 'unavailable', http: 503 },
  INTERNAL: { rpc: 'internal', http: 500 },
} as const

/** The closed list of reasons that callers receive. */
export type Reason = keyof typeof REASONS

/** One bad field of a request. */
export interface FieldViolation {
  /** The field's JSON name, such as `amount`. */
  readonly field: string
  /** What the field must be. */
  readonly message: string
}

/** What came of the solvers of a quote without an offer (docs/decisions.md, D7). */
export interface NoQuoteReasons {
  readonly asked: number
  readonly declined: number
  readonly invalid: number
  readonly failed: number
  /** No reply in time. */
  readonly late: number
  /** Could have been asked, and were not. */
  readonly notAsked: number
}

interface ServiceErrorOptions {
  readonly violations?: readonly FieldViolation[]
  /** An HTTP status that is more exact than the reason's own, such as 413. */
  readonly httpStatus?: number
  /** Time after which the caller can try again. */
  readonly retryAfterSeconds?: number
  /** The quote whose record has the details. */
  readonly quoteId?: string | undefined
  /** Of NO_QUOTES, how many solvers there were for each reason. */
  readonly reasons?: NoQuoteReasons
  readonly cause?: unknown
}

/** An error that callers may see. Its message is a sentence for people, and its reason is one of the closed list. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly reason: Reason
  readonly violations: readonly FieldViolation[]
  readonly httpStatus: number
  readonly retryAfterSeconds: number | undefined
  readonly quoteId: string | undefined
  readonly reasons: NoQuoteReasons | undefined

  constructor(reason: Reason, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.violations = options.violations ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.quoteId = options.quoteId
    this.reasons = options.reasons
    this.httpStatus = options.httpStatus ?? REASONS[reason].http
  }
}

/** The text of an error for an operator. For an error that callers see, it is the cause. */
export function reasonOf(error: unknown): string {
  return String(error instanceof ServiceError ? (error.cause ?? error) : error)
}

/**
 * Converts any thrown value to an error that callers may see. An unexpected value becomes INTERNAL, which reveals no
 * internals. Its `cause` is the thrown value, for the log.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  return new ServiceError('INTERNAL', 'The service failed to answer this request.', { cause: thrown })
}

/** The error for bad input. It names every bad field. */
export function invalidArgument(violations: readonly FieldViolation[]): ServiceError {
  const fields = violations.map((violation) => violation.field).join(', ')
  return new ServiceError('INVALID_ARGUMENT', `The request is not valid: see ${fields}.`, { violations })
}

/** The error of streams that end because the service does. */
export function shuttingDown(): ServiceError {
  return new ServiceError('SHUTTING_DOWN', 'The service is shutting down.')
}

/** Whether errors of this reason come from an outage, which has a line of its own in the log. */
export function isOutage(reason: Reason): boolean {
  return reason === 'CHAIN_UNAVAILABLE' || reason === 'DATABASE_UNAVAILABLE'
}

/** Most chains that the error names. */
const MAX_NAMED_CHAINS = 20

/** @param chainId undefined stands for text that is not a chain id @throws ServiceError CHAIN_NOT_SUPPORTED */
export function assertSupported(chainId: number | undefined, supportedChains: readonly number[]): void {
  if (chainId === undefined || !supportedChains.includes(chainId))
    throw chainNotSupported(chainId, supportedChains)
}

/** The error for a chain that the instance does not serve. It names that chain and those served (docs/decisions.md, D7). */
export function chainNotSupported(
  chainId: number | undefined,
  supportedChains: readonly number[],
): ServiceError {
  const chain = chainId === undefined ? 'A chain without a valid id' : `Chain ${chainId}`
  const others = supportedChains.length - MAX_NAMED_CHAINS
  const named = supportedChains.slice(0, MAX_NAMED_CHAINS).join(', ')
  const list = others > 0 ? `${named} and ${others} more, see /health` : named
  return new ServiceError('CHAIN_NOT_SUPPORTED', `${chain} is not supported here. Supported: ${list}.`)
}
