import { Code, ConnectError } from '@connectrpc/connect'
import { BadRequestSchema, ErrorInfoSchema } from '../../../../gen/google/rpc/error_details_pb.js'

/** Why something failed, for a person. */
export interface Failure {
  /** The service's code, or UNREACHABLE, or UNKNOWN. */
  readonly reason: string
  readonly message: string
  /** What to do about it. */
  readonly advice: string
  /** The quote whose record has the details. */
  readonly quoteId: string | undefined
  /** Time to wait before the next attempt. */
  readonly retryAfterMs: number | undefined
}

const BROKEN = 'The operator of this instance can see why. The console tries again.'
const ADVICE: Readonly<Record<string, string>> = {
  UNREACHABLE: 'The console tries again.',
  NO_QUOTES: 'Try another amount or pair. The record of the quote says what each solver answered.',
  RATE_LIMITED: 'The console waits, then tries again.',
  SOLVERS_BUSY: 'The console tries again in a moment.',
  CHAIN_UNAVAILABLE: BROKEN,
  DATABASE_UNAVAILABLE: BROKEN,
  STREAM_LIMIT_REACHED: 'Close other tabs of this console, or wait.',
  API_KEY_REQUIRED: 'Its operator serves this only to programs with an API key. A browser can keep none.',
  QUOTE_NOT_FOUND: 'The instance keeps records for some hours. Only the caller of a quote has its id.',
}

/** Describes what a call has thrown. */
export function toFailure(thrown: unknown): Failure {
  const error = ConnectError.from(thrown)
  const [info] = error.findDetails(ErrorInfoSchema)
  const reason =
    info?.reason ?? (isUnreachable(error, thrown) ? 'UNREACHABLE' : Code[error.code].toUpperCase())
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations)
  const details = violations.map(({ field, description }) => `${field} ${description}`).join('; ')
  const said = reason === 'UNREACHABLE' ? 'The instance does not answer.' : error.rawMessage
  const seconds = Number(error.metadata.get('retry-after') ?? Number.NaN)
  return {
    reason,
    message: details === '' || said.includes(details) ? said : `The request is not valid: ${details}.`,
    advice: ADVICE[reason] ?? '',
    quoteId: info?.metadata.quoteId,
    retryAfterMs: Number.isNaN(seconds) ? undefined : seconds * 1000,
  }
}

/** `fetch` throws a TypeError when no answer comes. A proxy without an instance answers with 502 to 504. */
function isUnreachable(error: ConnectError, thrown: unknown): boolean {
  return thrown instanceof TypeError || error.cause instanceof TypeError || error.code === Code.Unavailable
}
