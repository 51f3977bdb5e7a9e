import type { DescField } from '@bufbuild/protobuf'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseChainId } from '../domain/chain-id.js'
import { invalidArgument, type Reason, ServiceError } from '../domain/errors.js'
import type { GuardedMethod } from '../rpc/guard.js'
import type { Call, ChainMessage } from '../rpc/method.js'
import type { Client, RateLimits } from '../rpc/rate-limits.js'
import { toRestError } from './error-body.js'
import { assertNoConflict, compileRoutes, type RestRoute } from './http-rules.js'
import { type JsonObject, parseJsonBody } from './json-body.js'
import { compileJsonReader } from './json-reader.js'
import { compileJsonWriter } from './json-writer.js'

const ALL_VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const MAX_TIMEOUT_DIGITS = /^[0-9]{1,10}$/

interface MethodRoute {
  readonly method: GuardedMethod
  readonly route: RestRoute
}

/**
 * Serves guarded methods at the paths of their `google.api.http` options: request JSON -> message -> method ->
 * message -> JSON, with no RPC transport between.
 * @throws at start when the options conflict or say what the compiler does not know
 */
export function registerRestRoutes(
  server: FastifyInstance,
  methods: readonly GuardedMethod[],
  rateLimits: RateLimits,
): void {
  const routes = methods.flatMap((method) => compileRoutes(method.desc).map((route) => ({ method, route })))
  assertNoConflict(routes.map(({ route }) => route))
  server.removeAllContentTypeParsers()
  const parser = async (_request: FastifyRequest, bytes: Buffer) => parseJsonBody(bytes)
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, parser)
  for (const route of routes) registerRoute(server, route)
  refuseOtherVerbs(server, routes, rateLimits)
}

function registerRoute(server: FastifyInstance, { method, route }: MethodRoute): void {
  const reader = compileJsonReader(method.desc.input)
  const write = compileJsonWriter(method.desc.output)
  const pathNames = new Set(route.pathFields.map((field) => field.jsonName))
  const results = new WeakMap<FastifyRequest, Reason>()

  server.route({
    method: route.verb,
    url: route.url,
    onRequest: (request, reply) => method.admit(chainIdOf(request), toClient(request, reply)),
    async handler(request, reply) {
      const rest = (route.hasBody ? request.body : request.query) as JsonObject | undefined
      const path = request.params as JsonObject
      const { message, violations } = reader.read((field) =>
        pathNames.has(field.jsonName) ? path[field.jsonName] : fieldValue(rest ?? {}, field),
      )
      const answer = await method.answer(message as ChainMessage, toCall(request, reply), violations)
      const json = write(answer)
      return route.responseField === undefined ? json : json[route.responseField.jsonName]
    },
    errorHandler(thrown, request) {
      results.set(request, toRestError(thrown).reason)
      throw thrown
    },
    async onResponse(request, reply) {
      method.count('rest', results.get(request) ?? 'OK', reply.elapsedTime / 1000)
    },
  })
}

/** A path that is served answers 405 to other verbs, but 404 first when its chain is not supported. */
function refuseOtherVerbs(
  server: FastifyInstance,
  routes: readonly MethodRoute[],
  rateLimits: RateLimits,
): void {
  for (const url of new Set(routes.map(({ route }) => route.url))) {
    const served = routes.filter(({ route }) => route.url === url)
    const allowed = served.map(({ route }) => route.verb).sort()
    const taken = new Set<string>(allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed)
    server.route({
      method: ALL_VERBS.filter((verb) => !taken.has(verb)),
      url,
      onRequest: async (request, reply) => {
        await rateLimits.consume('global', toClient(request, reply))
        for (const { method } of served) method.assertChain(chainIdOf(request))
        reply.header('allow', allowed.join(', '))
        throw new ServiceError('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(' and ')}.`)
      },
      handler: () => undefined,
    })
  }
}

function chainIdOf(request: FastifyRequest): number | undefined {
  return parseChainId((request.params as { chainId: string }).chainId)
}

/** ProtoJSON readers take a field by its JSON name and by its name in the proto, but not by both at once. */
function fieldValue(json: JsonObject, field: DescField): unknown {
  const value = Object.hasOwn(json, field.jsonName) ? json[field.jsonName] : undefined
  if (field.name === field.jsonName || !Object.hasOwn(json, field.name)) return value
  if (value === undefined) return json[field.name]
  throw invalidArgument([{ field: field.jsonName, message: 'must be given once' }])
}

/** Whoever made a request, as far as limits go. */
export function toClient(request: FastifyRequest, reply: FastifyReply): Client {
  return { address: request.ip, setHeader: (name, value) => void reply.header(name, value) }
}

function toCall(request: FastifyRequest, reply: FastifyReply): Call {
  const caller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) caller.abort()
  })
  return {
    protocol: 'rest',
    requestId: request.id,
    signal: caller.signal,
    timeoutMs: timeoutOf(request),
    ...toClient(request, reply),
  }
}

/** The caller's own deadline, in the header that Connect clients send. */
function timeoutOf(request: FastifyRequest): number | undefined {
  const text = request.headers['connect-timeout-ms']
  if (text === undefined) return undefined
  if (typeof text === 'string' && MAX_TIMEOUT_DIGITS.test(text)) return Number(text)
  throw invalidArgument([{ field: 'Connect-Timeout-Ms', message: 'must be milliseconds, at most 10 digits' }])
}
