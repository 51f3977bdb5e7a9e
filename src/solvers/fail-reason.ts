import { ServiceError } from '../domain/errors.js'
import type { FailReason } from '../domain/quote-record.js'

/** A reply of a reasonable body with too much around it. */
export class ReplyTooLongError extends Error {
  constructor() {
    super('The reply is too long.')
  }
}

/** The codes of errors of Node and undici, or the name of one that has none, in the order in which they are tried. */
const REASONS: readonly [code: RegExp, reason: FailReason][] = [
  [/^(ENOTFOUND|EAI_)/, 'name_not_resolved'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/, 'unreachable'],
  [/^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, 'tls_failed'],
  [/^(UND_ERR_RES_EXCEEDED_MAX_SIZE|UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW)$/, 'reply_too_long'],
  [/^(HTTPParserError|HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/, 'not_http'],
]

/** Why a call of a solver failed, in words of the closed list; what is not known there is a lost connection. */
export function failReasonOf(error: Error): FailReason {
  if (error instanceof ServiceError) return 'endpoint_rejected'
  if (error instanceof ReplyTooLongError) return 'reply_too_long'
  const { code = error.name } = error as NodeJS.ErrnoException
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection_lost'
}
