import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { REASONS, ServiceError } from '../../../packages/protocol/src/errors.js'
import { decoded, parseChainId } from '../../../packages/protocol/src/values/text.js'
import type { MethodHandler } from '../../rpc/middleware.js'
import type { HttpContext } from '../context.js'
import { CONSOLE_POLICY } from '../pages/console.js'
import { toLimitedCall } from '../request.js'
import { sendError, toRestError } from './rest-errors.js'

const ALL_VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const CHAIN_IN_PATH = /^\/v1\/([^/?#]+)/

/** Sends errors for unknown paths and for what routes throw, in the shape of all errors (docs/decisions.md, D7). People get a page. */
export function registerErrorHandlers(
  server: FastifyInstance,
  { rateLimits, log, logRequest, lostPage }: HttpContext,
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
    if (lostPage === undefined || !isOfBrowser(request))
      throw new ServiceError('ROUTE_NOT_FOUND', 'There is nothing at this path.')
    logRequest(request, REASONS.ROUTE_NOT_FOUND.http)
    return reply
      .code(REASONS.ROUTE_NOT_FOUND.http)
      .header('content-security-policy', CONSOLE_POLICY)
      .type('text/html; charset=utf-8')
      .send(lostPage(request.url))
  })
  // Only routes that need the body read it: an unknown path is rejected first.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/** Whether a person reads the answer: programs do not ask for HTML. */
const isOfBrowser = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && headers.accept?.includes('text/html') === true

/**
 * Rejects with 405 the verbs that a path does not accept. The routes themselves decide whether they accept HEAD.
 * @param check may throw another error first
 */
export function rejectOtherMethods(
  server: FastifyInstance,
  { rateLimits }: HttpContext,
  url: string,
  verbs: readonly string[],
  check: (request: FastifyRequest) => void = () => {},
): void {
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

/** Stands for each path that cannot be decoded. No request line can name it. */
export const UNDECODABLE = '/ '

/** Rejects paths that cannot be decoded. Such a request counts against the limit like any other. An unsupported chain is 404 first. */
export function rejectUndecodable(
  server: FastifyInstance,
  methods: readonly MethodHandler[],
  { rateLimits }: HttpContext,
): void {
  const withChain = methods.find(({ hasChain }) => hasChain)
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await rateLimits.consume('global', toLimitedCall(request, reply))
    const [, segment] = CHAIN_IN_PATH.exec(request.originalUrl) ?? []
    if (segment !== undefined) withChain?.assertChain(parseChainId(decoded(segment)))
    throw new ServiceError('INVALID_ARGUMENT', 'The path must be a valid URL path.', {
      violations: [{ field: 'path', message: 'must be a valid URL path' }],
    })
  }
  server.all(UNDECODABLE, { onRequest }, () => undefined)
}
