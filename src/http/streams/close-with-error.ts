import type { WebSocket } from 'ws'
import type { Reason, ServiceError } from '../../../packages/protocol/src/errors.js'

/** Close codes by reason (RFC 6455, section 7.4; docs/decisions.md, D9). */
const CLOSE_CODES: Partial<Record<Reason, number>> = {
  SHUTTING_DOWN: 1001,
  INVALID_ARGUMENT: 1008,
  CHAIN_NOT_SUPPORTED: 1008,
  CURSOR_UNKNOWN: 1008,
  API_KEY_INVALID: 1008,
  SUBSCRIBER_TOO_SLOW: 1013,
  STREAM_LIMIT_REACHED: 1013,
  DATABASE_UNAVAILABLE: 1013,
}
const INTERNAL_ERROR = 1011
/** The bytes of a close frame in addition to its code. */
const MAX_REASON_BYTES = 123

/** Closes a WebSocket with the code and the reason of an error. */
export function closeWith(socket: WebSocket, error: ServiceError): void {
  socket.close(CLOSE_CODES[error.reason] ?? INTERNAL_ERROR, closeReason(error))
}

/** The reason of the close frame for an error. */
export function closeReason(error: ServiceError): string {
  const reason = error.violations[0]
    ? error.violations.map(({ field, message }) => `${field} ${message}`).join('; ')
    : error.message
  // Only ASCII, so that a character is a byte: names of fields may come from the client.
  const ascii = reason.replace(/[^\x20-\x7e]/g, '?')
  return ascii.slice(0, MAX_REASON_BYTES)
}
