import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseChainId } from '../../../packages/protocol/src/values/numbers.js'
import type { MethodHandler } from '../../rpc/middleware.js'
import { elapsedMs, RestContext, toLimitedCall } from '../request.js'
import type { LogRequest } from '../request-log.js'
import type { RejectOtherMethods } from './error-routes.js'
import { assertNoConflict, compileRoutes, type RestRoute } from './http-rules.js'
import { compileJsonWriter } from './proto-json.js'
import { createRequestReader, parseJsonBody } from './request-message.js'
import { toRestError } from './rest-errors.js'

const OK = 200
const JSON_TYPE = 'application/json; charset=utf-8'

interface MethodRoute {
  readonly method: MethodHandler
  readonly route: RestRoute
}

/**
 * Serves methods with their middleware at the paths of their `google.api.http` options: request JSON -> message ->
 * method -> message -> JSON, with no RPC transport between.
 * @throws at start when the options conflict or have a form that the compiler does not know
 */
export function registerRestRoutes(
  server: FastifyInstance,
  methods: readonly MethodHandler[],
  rejectOtherMethods: RejectOtherMethods,
  logRequest: LogRequest,
): void {
  const routes = methods.flatMap((method) => compileRoutes(method.desc).map((route) => ({ method, route })))
  assertNoConflict(routes.map(({ route }) => route))
  server.removeAllContentTypeParsers()
  const parser = async (_request: FastifyRequest, bytes: Buffer) => parseJsonBody(bytes)
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, parser)
  for (const route of routes) registerRoute(server, route, logRequest)
  for (const url of new Set(routes.map(({ route }) => route.url))) {
    const served = routes.filter(({ route }) => route.url === url)
    // A chain that is not supported is 404 first.
    const verbs = served.map(({ route }) => route.verb)
    rejectOtherMethods(url, verbs, (request) => served[0]?.method.assertChain(chainIdOf(request)))
  }
}

function registerRoute(
  server: FastifyInstance,
  { method, route }: MethodRoute,
  logRequest: LogRequest,
): void {
  const read = createRequestReader(method.desc.input, route)
  const write = compileJsonWriter(method.desc.output)
  const { responseField } = route

  /** @returns the body. To return the reply instead would have Fastify wait for its end, which costs a quarter of a read. */
  function answer(response: object, request: FastifyRequest, reply: FastifyReply): string {
    const json = write(response)
    const text = JSON.stringify(responseField === undefined ? json : json[responseField.jsonName])
    method.count('rest', 'OK', elapsedMs(request) / 1000)
    logRequest(request, OK)
    reply.header('content-type', JSON_TYPE)
    return text
  }

  server.route({
    method: route.verb,
    url: route.url,
    config: { cors: false, logsItself: true },
    onRequest: (request, reply) =>
      method.checkChainAndLimits(chainIdOf(request), toLimitedCall(request, reply)),
    async handler(request, reply) {
      const { message, violations } = read(request)
      const response = await method.handle(message, new RestContext(request, reply), violations)
      return answer(response, request, reply)
    },
    errorHandler(thrown, request) {
      const error = toRestError(thrown)
      method.count('rest', error.reason, elapsedMs(request) / 1000)
      request.rejection = error
      logRequest(request, error.httpStatus)
      throw thrown
    },
  })
}

/** The chain in the path of a request; undefined when it is not a chain id, and for a method without a chain. */
export function chainIdOf(request: FastifyRequest): number | undefined {
  const { chainId } = request.params as { readonly chainId?: string }
  return chainId === undefined ? undefined : parseChainId(chainId)
}
