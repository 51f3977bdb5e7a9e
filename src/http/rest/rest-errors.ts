import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Reason, ServiceError, toServiceError } from '../../../packages/protocol/src/errors.js'
import { MAX_BODY_KIB } from '../../../packages/protocol/src/field-rules.js'
import { parseChainId } from '../../../packages/protocol/src/values/numbers.js'
import { decoded } from '../../../packages/protocol/src/values/text.js'
import { hasResponseUnderWay } from '../../internals/response-under-way.js'
import type { KeyRing } from '../../rpc/limits/key-ring.js'
import type { RateLimits } from '../../rpc/limits/rate-limits.js'
import type { MethodHandler } from '../../rpc/middleware.js'
import type { Logger } from '../../telemetry/log.js'
import { abandon, recordArrival, toLimitedCall } from '../request-context.js'
import type { LogRequest } from '../request-log.js'

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
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`
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

const ALL_VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const CHAIN_IN_PATH = /^\/v1\/([^/?#]+)/

/** Sends errors for unknown paths and for what routes throw, in the shape of all errors (docs/decisions.md, D7). */
export function registerErrorHandlers(
  server: FastifyInstance,
  rateLimits: RateLimits,
  { log, logRequest }: { readonly log: Logger; readonly logRequest: LogRequest },
): void {
  server.setErrorHandler((thrown, request, reply) => {
    const error = toRestError(thrown)
    // The middleware has already logged the errors that it turned into a ServiceError.
    if (error !== thrown && error.reason === 'INTERNAL') {
      log.error({ requestId: request.id, err: error.cause }, error.message)
    }
    sendError(reply, error)
    // Routes log their own requests.
    if (request.routeOptions.url === undefined) logRequest(request, error.httpStatus)
    return reply
  })
  server.setNotFoundHandler(async (request, reply) => {
    await rateLimits.consume('global', toLimitedCall(request, reply))
    throw new ServiceError('ROUTE_NOT_FOUND', 'There is nothing at this path.')
  })
  // Only routes that need the body read it: an unknown path is rejected first.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/**
 * Rejects with 405 the verbs that a path does not accept.
 * @param check may throw another error first
 */
export type RejectOtherMethods = (
  url: string,
  verbs: readonly string[],
  check: (request: FastifyRequest) => void,
) => void

/** Builds the rejection of other verbs. The routes themselves decide whether they accept HEAD. */
export function createMethodRejection(server: FastifyInstance, rateLimits: RateLimits): RejectOtherMethods {
  return (url, verbs, check) => {
    const allowed = verbs.toSorted()
    server.route({
      method: ALL_VERBS.filter((method) => !server.hasRoute({ method, url })),
      url,
      onRequest: async (request, reply) => {
        await rateLimits.consume('global', toLimitedCall(request, reply))
        check(request)
        reply.header('allow', allowed.join(', '))
        throw new ServiceError('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(' and ')}.`)
      },
      handler: () => undefined,
    })
  }
}

/**
 * Builds the handler of paths that cannot be decoded, which Fastify gives to no route and no hook. Such a request counts
 * against the limit like any other. An unsupported chain is 404 first.
 */
export function createBadUrlHandler(
  methods: readonly MethodHandler[],
  rateLimits: RateLimits,
  keys: Pick<KeyRing, 'identify'>,
  logRequest: LogRequest,
) {
  const withChain = methods.find(({ hasChain }) => hasChain)
  return async (error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!recordArrival(request, keys)) return abandon(request, reply)
    try {
      await rateLimits.consume('global', toLimitedCall(request, reply))
      const [, segment] = CHAIN_IN_PATH.exec(request.url) ?? []
      if (segment !== undefined) withChain?.assertChain(parseChainId(decoded(segment)))
      throw error
    } catch (thrown) {
      const rejection = toRestError(thrown)
      sendError(reply, rejection)
      logRequest(request, rejection.httpStatus)
    }
  }
}
