import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { type Reason, ServiceError, toServiceError } from '../domain/errors.js'
import { hasAnswerUnderWay } from '../internals/answer-under-way.js'

/** What the framework's errors say of the request: the bad part, and what it must be. */
const FRAMEWORK_ERRORS: Readonly<Record<string, { field: string; message: string; httpStatus?: number }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { field: 'body', message: 'must be at most 64 KiB', httpStatus: 413 },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    field: 'body',
    message: 'must be JSON, with content-type application/json',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { field: 'body', message: 'must be as long as content-length says' },
  FST_ERR_BAD_URL: { field: 'path', message: 'must be a valid URL path' },
}
const UNPARSABLE: Readonly<Record<string, [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not come to its end in time.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers must be at most 16 KiB.'],
}
const MALFORMED = { field: 'request', message: 'must be readable to its end' }

/** Turns whatever a route threw, its framework included, into an error that a caller may see. */
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

/** Answers a connection whose bytes are no HTTP, or came too slowly, in the shape of all errors, and ends it. */
export function rejectUnparsable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (hasAnswerUnderWay(socket)) return void socket.destroy()
  const [status, message] = UNPARSABLE[error.code ?? ''] ?? [
    '400 Bad Request',
    'The request is not valid HTTP.',
  ]
  const body = JSON.stringify({ error: message, code: 'INVALID_ARGUMENT' satisfies Reason })
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`)
  socket.destroy()
}

/** Answers with an error in the one shape that all REST errors have (docs/decisions.md, D7). */
export function sendError(reply: FastifyReply, error: ServiceError): FastifyReply {
  reply.request.refusal = error
  const details = error.violations.length > 0 ? { details: error.violations } : {}
  const quoteId = error.quoteId === undefined ? {} : { quoteId: error.quoteId }
  return reply
    .code(error.httpStatus)
    .send({ error: error.message, code: error.reason, ...details, ...quoteId })
}
