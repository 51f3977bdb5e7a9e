import type { ServerHttp2Stream } from 'node:http2'
import { createContextValues } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../domain/errors.js'
import { withGrpcStatusMessages } from '../internals/grpc-status-message.js'
import { wrapHandlers } from '../internals/wrap-handlers.js'
import type { EventStreams } from '../rpc/event-streams.js'
import type { QuoteSummary } from '../rpc/method.js'
import type { MethodHandler } from '../rpc/middleware.js'
import type { QuoteStreams } from '../rpc/quote-streams.js'
import { type AddService, rpcRoutes } from '../rpc/router.js'
import { requestKey } from '../rpc/rpc-context.js'
import type { SolverSessions } from '../rpc/solver-sessions.js'
import { findTargetError } from './ambiguous-headers.js'
import { elapsedMs } from './arrival.js'
import { keepOpen } from './http2-sessions.js'
import { cut } from './rest-context.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The response of an RPC request. */
    response: Pick<FastifyReply['raw'], 'writableLength'> | undefined
  }
}

interface RpcRoutesOptions {
  readonly methods: readonly MethodHandler[]
  readonly streams: EventStreams | undefined
  readonly quoteStreams: QuoteStreams | undefined
  readonly solverSessions: SolverSessions
  /** They add gRPC's own services, which have no middleware. */
  readonly addServices: readonly AddService[]
}

/** Responses are a few KiB, mostly random: to compress them takes longer than to send them. */
const NEVER_COMPRESS = 0xffff_ffff
const VERSION_NOT_SUPPORTED = 505

/**
 * Serves methods over gRPC, gRPC-Web and Connect.
 * @param scope of its own, because Connect has its own parsers of bodies
 * @param rejectCounted rejects a request that Connect cannot serve
 */
export async function registerRpc(
  scope: FastifyInstance,
  { methods, streams, quoteStreams, solverSessions, addServices }: RpcRoutesOptions,
  rejectCounted: (error: ServiceError, request: FastifyRequest, reply: FastifyReply) => Promise<never>,
  maxBodyBytes: number,
): Promise<void> {
  const bothWays = new Set<string>()
  scope.decorateRequest('response', undefined)
  scope.addHook('onRequest', (request, reply, done) => {
    request.response = reply.raw
    const error = findTargetError(request.raw) ?? findVersionError(request, bothWays)
    if (error === undefined) done()
    else rejectCounted(error, request, reply).catch(done)
  })
  await scope.register(fastifyConnectPlugin, {
    routes(router) {
      rpcRoutes(methods, streams, quoteStreams, solverSessions, addServices)(router)
      wrapHandlers(router, withGrpcStatusMessages)
      for (const { requestPath, method } of router.handlers)
        if (method.methodKind === 'bidi_streaming') bothWays.add(requestPath)
    },
    contextValues: toContextValues,
    readMaxBytes: maxBodyBytes,
    compressMinBytes: NEVER_COMPRESS,
  })
}

/**
 * Rejects HTTP/1.1, where a method that streams both ways needs HTTP/2. Connect does so without a word.
 * @param bothWays paths of such methods
 */
function findVersionError(
  { raw, routeOptions }: FastifyRequest,
  bothWays: ReadonlySet<string>,
): ServiceError | undefined {
  if (raw.httpVersionMajor > 1 || !bothWays.has(routeOptions.url ?? '')) return undefined
  return new ServiceError('METHOD_NOT_ALLOWED', 'This method streams both ways, which takes HTTP/2.', {
    httpStatus: VERSION_NOT_SUPPORTED,
  })
}

function toContextValues(request: FastifyRequest) {
  const { id, clientAddress: ip, response, raw } = request
  const recordError = (error: ServiceError) => {
    request.rejection = error
  }
  const recordQuote = (quote: QuoteSummary) => {
    request.quote = quote
  }
  return createContextValues().set(requestKey, {
    id,
    ip,
    elapsedMs: () => elapsedMs(request),
    abandon: () => cut(request),
    isDrained: () => response?.writableLength === 0,
    unsentBytes: () => response?.writableLength ?? 0,
    keepOpen: () => 'stream' in raw && keepOpen(raw.stream as ServerHttp2Stream),
    hostOf: () => request.host,
    recordError,
    recordQuote,
  })
}
