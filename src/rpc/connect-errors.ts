import { ConnectError } from '@connectrpc/connect'
import { codeFromString } from '@connectrpc/connect/protocol-connect'
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import { REASONS, type ServiceError } from '../domain/errors.js'

const ERROR_DOMAIN = 'aggregator'

/**
 * Turns an error into that of RPC callers: its reason is in `google.rpc.ErrorInfo`, bad fields are in `BadRequest`, and
 * the time to wait is in `RetryInfo` (docs/decisions.md, D7, D8).
 */
export function toConnectError(error: ServiceError): ConnectError {
  const connectError = new ConnectError(error.message, codeFromString(REASONS[error.reason].rpc))
  const metadata: Record<string, string> = error.quoteId === undefined ? {} : { quoteId: error.quoteId }
  const info = { reason: error.reason, domain: ERROR_DOMAIN, metadata }
  connectError.details.push({ desc: ErrorInfoSchema, value: info })
  if (error.violations.length > 0) {
    const fieldViolations = error.violations.map(({ field, message }) => ({ field, description: message }))
    connectError.details.push({ desc: BadRequestSchema, value: { fieldViolations } })
  }
  if (error.retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(error.retryAfterSeconds) }
    connectError.details.push({ desc: RetryInfoSchema, value: { retryDelay } })
  }
  return connectError
}
