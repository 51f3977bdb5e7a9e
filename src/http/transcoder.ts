import type { DescField, DescMethod } from '@bufbuild/protobuf'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseChainId } from '../domain/chain-id.js'
import { invalidArgument } from '../domain/errors.js'
import type { ChainMessage } from '../rpc/method.js'
import type { MethodHandler } from '../rpc/middleware.js'
import { weakMemoize } from '../rpc/weak-memoize.js'
import { elapsedMs } from './arrival.js'
import { toRestError } from './error-body.js'
import type { RejectOtherMethods } from './error-handler.js'
import { assertNoConflict, compileRoutes, type RestRoute } from './http-rules.js'
import { type JsonObject, parseJsonBody } from './json-body.js'
import { compileJsonReader } from './json-reader.js'
import { compileJsonWriter } from './json-writer.js'
import { createQueryCheck } from './query-parameters.js'
import type { LogRequest } from './request-log.js'
import { RestContext, toClient } from './rest-context.js'

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
  const reader = compileJsonReader(method.desc.input)
  const toText = textWriter(method.desc, route)
  const pathNames = new Set(route.pathFields.map((field) => field.jsonName))
  const queryFields = method.desc.input.fields.filter((field) => !pathNames.has(field.jsonName))
  const hasQuery = !route.hasBody && queryFields.length > 0
  const checkQuery = hasQuery ? createQueryCheck(queryFields) : () => []

  server.route({
    method: route.verb,
    url: route.url,
    config: { cors: false, logsItself: true },
    onRequest: (request, reply) => method.checkChainAndLimits(chainIdOf(request), toClient(request, reply)),
    async handler(request, reply) {
      const rest = (route.hasBody ? request.body : request.query) as JsonObject | undefined
      const path = request.params as JsonObject
      const { message, violations } = reader.read((field) =>
        pathNames.has(field.jsonName) ? path[field.jsonName] : fieldValue(rest ?? {}, field),
      )
      const malformed = [...checkQuery(request.query as JsonObject), ...violations]
      const response = await method.handle(
        message as ChainMessage,
        new RestContext(request, reply),
        malformed,
      )
      const text = toText(response)
      method.count('rest', 'OK', elapsedMs(request) / 1000)
      logRequest(request, OK)
      reply.header('content-type', JSON_TYPE)
      // To return the reply instead would have Fastify wait for its end, which costs a quarter of a read.
      return text
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

/** Builds the writer of response bodies. A GET often returns the same object as before, so its text is kept. */
function textWriter(
  { output }: DescMethod,
  { verb, responseField }: RestRoute,
): (response: object) => string {
  const write = compileJsonWriter(output)
  const toText = (response: object) => {
    const json = write(response)
    return JSON.stringify(responseField === undefined ? json : json[responseField.jsonName])
  }
  return verb === 'GET' ? weakMemoize(toText) : toText
}

function chainIdOf(request: FastifyRequest): number | undefined {
  return parseChainId((request.params as { chainId: string }).chainId)
}

/** ProtoJSON readers accept a field by its JSON name or by its name in the proto, but not by both at once. */
export function fieldValue(json: JsonObject, field: DescField): unknown {
  const value = Object.hasOwn(json, field.jsonName) ? json[field.jsonName] : undefined
  if (field.name === field.jsonName || !Object.hasOwn(json, field.name)) return value
  if (value === undefined) return json[field.name]
  throw invalidArgument([{ field: field.jsonName, message: 'must be given once' }])
}
