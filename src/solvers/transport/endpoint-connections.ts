import { buildConnector } from 'undici'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { HttpFailReason } from '../../../packages/protocol/src/solvers/solver-result.js'
import { type WatchOptions, watchReplies } from '../../internals/reply-bytes.js'
import type { EndpointGuard } from './endpoint-guard.js'

const CONNECT_TIMEOUT_MS = 5000

/**
 * Builds the connector of the solver client.
 * @param guard checks every connection before it is opened
 */
export function createGuardedConnector(
  guard: EndpointGuard,
  limits: Pick<WatchOptions, 'maxReplyBytes' | 'lost'>,
): buildConnector.connector {
  const connectorFor = (protocol: string) =>
    buildConnector({ lookup: guard.lookupFor(protocol), timeout: CONNECT_TIMEOUT_MS })
  const connectTls = connectorFor('https:')
  const connectPlain = connectorFor('http:')
  return (options, callback) => {
    try {
      guard.assertDiallable(options.protocol, options.hostname)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    const connect = options.protocol === 'https:' ? connectTls : connectPlain
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      watchReplies(socket, { ...limits, tooLong: () => new ReplyTooLongError() })
      callback(null, socket)
    })
  }
}

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
