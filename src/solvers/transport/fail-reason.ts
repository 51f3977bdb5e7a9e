import { ServiceError } from '../../domain/errors.js'
import type { HttpFailReason } from '../../domain/solvers/solver-result.js'

/** The error of a reply whose framing is too long, although its body is not. */
export class ReplyTooLongError extends Error {
  constructor() {
    super('The reply is too long.')
  }
}

/** Patterns for the codes of errors from Node and undici, or for the name of an error without a code. The first match counts. */
const REASONS: readonly [code: RegExp, reason: HttpFailReason][] = [
  [/^(ENOTFOUND|EAI_)/, 'name_not_resolved'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/, 'unreachable'],
  [/^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, 'tls_failed'],
  [/^(UND_ERR_RES_EXCEEDED_MAX_SIZE|UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW)$/, 'reply_too_long'],
  [/^(HTTPParserError|HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/, 'not_http'],
]

/** The reason from the closed list for which a request to an endpoint failed. An unknown error is a lost connection. */
export function failReasonOf(error: Error): HttpFailReason {
  if (error instanceof ServiceError) return 'endpoint_rejected'
  if (error instanceof ReplyTooLongError) return 'reply_too_long'
  const { code = error.name } = error as NodeJS.ErrnoException
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection_lost'
}
