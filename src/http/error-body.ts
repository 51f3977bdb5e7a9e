import type { FastifyReply } from 'fastify'
import { invalidArgument, ServiceError, toServiceError } from '../domain/errors.js'

/** What a framework's error says of the request: the bad part, and what it must be. */
const FRAMEWORK_ERRORS: Readonly<Record<string, { httpStatus?: number; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { httpStatus: 413, message: 'must be at most 64 KiB' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { message: 'must be JSON, with content-type application/json' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { message: 'must be a JSON object' },
  FST_ERR_CTP_INVALID_JSON_BODY: { message: 'must be valid JSON' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { message: 'must be as long as content-length says' },
}

/** Turns whatever a route threw, its framework included, into an error that a caller may see. */
export function toRestError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  const { code, statusCode } = thrown as { code?: string; statusCode?: number }
  const known = FRAMEWORK_ERRORS[code ?? '']
  if (known !== undefined) {
    const violations = [{ field: 'body', message: known.message }]
    return new ServiceError('INVALID_ARGUMENT', `The body ${known.message}.`, { ...known, violations })
  }
  if (statusCode === 400) return invalidArgument([{ field: 'body', message: 'must be valid JSON' }])
  return toServiceError(thrown)
}

/** Answers with an error in the one shape that all REST errors have (decisions.md D7). */
export function sendError(reply: FastifyReply, error: ServiceError): FastifyReply {
  const details = error.violations.length > 0 ? { details: error.violations } : {}
  return reply.code(error.httpStatus).send({ error: error.message, code: error.reason, ...details })
}
