import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { type Reason, ServiceError, toServiceError } from '../../../packages/protocol/src/errors.js'
import { MAX_BODY_KIB } from '../../../packages/protocol/src/field-rules.js'
import { hasResponseUnderWay } from '../../internals/node-http.js'

/** The framework's errors by code: the bad part of the request, and what it must be. */
const FRAMEWORK_ERRORS: Readonly<Record<string, { field: string; message: string; httpStatus?: number }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    field: 'body',
    message: `must be at most ${MAX_BODY_KIB} KiB`,
    httpStatus: 413,
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    field: 'body',
    message: 'must be JSON, with content-type application/json',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { field: 'body', message: 'must be as long as content-length says' },
  FST_ERR_BAD_URL: { field: 'path', message: 'must be a valid URL path' },
}
const UNPARSABLE: Readonly<Record<string, [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request was not complete in time.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers must be at most 16 KiB.'],
}
const MALFORMED = { field: 'request', message: 'must be complete and readable' }

/** Turns an error from a route or the framework into one that a caller may see. */
export function toRestError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  const { code = '', statusCode = 500 } = (thrown ?? {}) as { code?: string; statusCode?: number }
  const known = FRAMEWORK_ERRORS[code] ?? (statusCode < 500 ? MALFORMED : undefined)
  if (known === undefined) return toServiceError(thrown)
  const { field, message, httpStatus } = { httpStatus: undefined, ...known }
  return new ServiceError('INVALID_ARGUMENT', `The ${field} ${message}.`, {
    httpStatus,
    violations: [{ field, message }],
  })
}

/** Ends a connection whose bytes are not HTTP, or came too slowly. The response has the shape of all errors. */
export function rejectUnparsable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (hasResponseUnderWay(socket)) return void socket.destroy()
  const [status, message] = UNPARSABLE[error.code ?? ''] ?? [
    '400 Bad Request',
    'The request is not valid HTTP.',
  ]
  const body = JSON.stringify({ error: message, code: 'INVALID_ARGUMENT' satisfies Reason })
  const headers = `content-type: application/json\r\ncache-control: no-store\r\ncontent-length: ${body.length}\r\nconnection: close`
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`)
  socket.destroy()
}

/** Sends an error. */
export function sendError(reply: FastifyReply, error: ServiceError): FastifyReply {
  reply.request.rejection = error
  return reply.code(error.httpStatus).send(errorBody(error))
}

/** The one shape of all REST errors (docs/decisions.md, D7). */
export function errorBody({ message, reason, violations, quoteId, reasons }: ServiceError): object {
  const details = violations.length > 0 ? { details: violations } : {}
  const ofQuote = {
    ...(quoteId === undefined ? {} : { quoteId }),
    ...(reasons === undefined ? {} : { reasons }),
  }
  return { error: message, code: reason, ...details, ...ofQuote }
}
