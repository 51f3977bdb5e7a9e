import { isUtf8 } from 'node:buffer'
import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FieldViolation, invalidArgument } from '../../../packages/protocol/src/errors.js'
import {
  hasTooManyValues,
  parseChainId,
  replaceUnprintable,
} from '../../../packages/protocol/src/values/text.js'
import type { MethodHandler } from '../../rpc/middleware.js'
import type { HttpContext } from '../context.js'
import { elapsedMs, RestContext, toLimitedCall } from '../request.js'
import { rejectOtherMethods } from './error-routes.js'
import { compileRoutes, type RestRoute } from './http-rules.js'
import { compileJsonReader, compileJsonWriter, fieldValue, type JsonObject } from './proto-json.js'
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
  context: HttpContext,
): void {
  const routes = methods.flatMap((method) => compileRoutes(method.desc).map((route) => ({ method, route })))
  server.removeAllContentTypeParsers()
  const parser = async (_request: FastifyRequest, bytes: Buffer) => parseJsonBody(bytes)
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, parser)
  for (const route of routes) registerRoute(server, route, context)
  for (const url of new Set(routes.map(({ route }) => route.url))) {
    const served = routes.filter(({ route }) => route.url === url)
    // A chain that is not supported is 404 first.
    const verbs = served.map(({ route }) => route.verb)
    rejectOtherMethods(server, context, url, verbs, (request) =>
      served[0]?.method.assertChain(chainIdOf(request)),
    )
  }
}

function registerRoute(
  server: FastifyInstance,
  { method, route }: MethodRoute,
  { logRequest }: HttpContext,
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
    config: { logsItself: true },
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

/** Reads the message of a request from its path and its body or query; the violations name what cannot be read. */
type RequestReader = (request: FastifyRequest) => {
  readonly message: Message
  readonly violations: readonly FieldViolation[]
}

/** Compiles the reader of a route. */
export function createRequestReader(input: DescMessage, route: RestRoute): RequestReader {
  const reader = compileJsonReader(input)
  const pathNames = new Set(route.pathFields.map((field) => field.jsonName))
  const queryFields = input.fields.filter((field) => !pathNames.has(field.jsonName))
  const hasQuery = !route.hasBody && queryFields.length > 0
  const checkQuery = hasQuery ? createQueryCheck(queryFields) : () => []

  return ({ params, query, body }) => {
    const path = params as JsonObject
    const rest = ((route.hasBody ? body : query) ?? {}) as JsonObject
    const { message, violations } = reader.read((field) =>
      pathNames.has(field.jsonName) ? path[field.jsonName] : fieldValue(rest, field),
    )
    return { message, violations: [...checkQuery(query as JsonObject), ...violations] }
  }
}

/** An error names the bad keys or parameters without repeating the whole request. */
const MAX_NAMED = 16
const MAX_NAME_LENGTH = 64

/**
 * Reads a request's body. It must be a JSON object in UTF-8.
 * @throws ServiceError INVALID_ARGUMENT that names `body` or the field
 */
export function parseJsonBody(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw invalidArgument([{ field: 'body', message: 'must be UTF-8' }])
  // Some clients of Windows begin with a byte order mark.
  const text = bytes.toString().replace(/^\ufeff/, '')
  return parseJsonObject(text)
}

/** Reads a JSON object. Of a field that is given twice, the last one counts. @throws ServiceError INVALID_ARGUMENT */
export function parseJsonObject(text: string): JsonObject {
  if (hasTooManyValues(text)) throw invalidArgument([{ field: 'body', message: 'must have fewer values' }])
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgument([{ field: 'body', message: 'must be a JSON object' }])
  }
  return value as JsonObject
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidArgument([{ field: 'body', message: 'must be valid JSON' }])
  }
}

/**
 * Builds the check of a query whose parameters are the fields of a request. A filter with a misspelt name would let
 * everything through, so a parameter that is not a field is an error.
 * @returns a function that returns one violation for each unknown parameter of a query, at most 16
 */
export function createQueryCheck(fields: readonly DescField[]): (query: JsonObject) => FieldViolation[] {
  const names = fields.map((field) => field.jsonName)
  const accepted = new Set([...names, ...fields.map((field) => field.name)])
  return (query) => {
    const unknown = Object.keys(query).filter((name) => !accepted.has(name))
    return unknown.slice(0, MAX_NAMED).map((name) => {
      const field = replaceUnprintable(name.slice(0, MAX_NAME_LENGTH))
      return { field, message: `is not a parameter of this path: use ${names.join(', ')}` }
    })
  }
}
