import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { createContextValues } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError, toServiceError } from '../../packages/protocol/src/errors.js'
import type { Protocol, QuoteSummary } from '../clients/call.js'
import { rpcRefusal, withGrpcStatusMessages, wrapHandlers } from '../internals/connect.js'
import { requestKey } from '../rpc/call-context.js'
import { toConnectError } from '../rpc/interceptors.js'
import type { Admission, Outcome } from '../rpc/method.js'
import type { RpcServices } from '../rpc/router.js'
import { findTargetError } from './port/header-rules.js'
import { keepOpen } from './port/slow-clients.js'
import { cut, elapsedMs, readTraceparent, toLimitedCall } from './request.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The response of an RPC request. */
    response: Pick<FastifyReply['raw'], 'writableLength'> | undefined
    /** Whether an RPC request was counted in the metrics, or has reached its method, which counts it. */
    isCounted: boolean
  }
}

/** The longest delay of a timer. Node turns a longer one into 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000 }
const METHOD_NOT_ALLOWED = 405
const VERSION_NOT_SUPPORTED = 505

/**
 * Serves methods over gRPC, gRPC-Web and Connect.
 * @param scope of its own, because Connect has its own parsers of bodies
 * @param rejectCounted rejects a request that Connect cannot serve
 */
export async function registerRpc(
  scope: FastifyInstance,
  { routes, admissions }: RpcServices,
  rejectCounted: (error: ServiceError, request: FastifyRequest, reply: FastifyReply) => Promise<never>,
  maxBodyBytes: number,
): Promise<void> {
  const bothWays = new Set<string>()
  scope.decorateRequest('response', undefined)
  scope.decorateRequest('isCounted', false)
  scope.addHook('onRequest', async (request, reply) => {
    request.response = reply.raw
    const error = findTargetError(request.raw) ?? findVersionError(request, bothWays)
    if (error !== undefined) return rejectCounted(error, request, reply)
    clampTimeout(request.raw.headers)
    const admission = admissions.get(request.routeOptions.url ?? '')
    if (admission !== undefined) return admit(admission, request, reply)
  })
  await scope.register(fastifyConnectPlugin, {
    routes(router) {
      routes(router)
      wrapHandlers(router, withGrpcStatusMessages)
      for (const { requestPath, method } of router.handlers)
        if (method.methodKind === 'bidi_streaming') bothWays.add(requestPath)
    },
    contextValues: toContextValues,
    readMaxBytes: maxBodyBytes,
    // A few compressed bytes would keep the main thread busy for as long as the longest message.
    acceptCompression: [],
    binaryOptions: { readUnknownFields: false },
  })
}

/** Counts a call against the limits of its method before its body is read, and a call that does not reach its method. */
async function admit(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const protocol = protocolOf(request.headers)
  const count = (outcome: Outcome) => {
    request.isCounted = true
    admission.count(protocol, outcome, elapsedMs(request) / 1000)
  }
  // Fastify's hook `onResponse` is not called when the client of HTTP/1.1 has left.
  reply.raw.once('close', () => {
    if (!request.isCounted)
      count(reply.raw.statusCode === METHOD_NOT_ALLOWED ? 'METHOD_NOT_ALLOWED' : 'MALFORMED')
  })
  try {
    await admission.checkLimits(toLimitedCall(request, reply))
    return undefined
  } catch (thrown) {
    const error = toServiceError(thrown)
    request.rejection = error
    count(error.reason)
    const { status, headers, body, trailers } = rpcRefusal(
      request.headers['content-type'] ?? '',
      toConnectError(error),
    )
    // Fastify's own trailers need HTTP/1.1, and grpc-js reads no status from headers that a body may follow.
    reply.hijack()
    reply.raw.writeHead(status, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...headers })
    reply.raw.addTrailers(trailers)
    reply.raw.end(body)
    return reply
  }
}

/** Shortens a deadline to 24.8 days. Connect's option `maxTimeoutMs` rejects longer ones, although they are valid. */
export function clampTimeout(headers: IncomingHttpHeaders): void {
  const [, digits, unit = ''] = /^(\d{1,8})([HMS])$/.exec(String(headers['grpc-timeout'])) ?? []
  const isLong = Number(digits) * (UNIT_MS[unit] ?? 0) > MAX_TIMER_MS
  if (isLong) headers['grpc-timeout'] = `${Math.floor(MAX_TIMER_MS / 1000)}S`
  const text = String(headers['connect-timeout-ms'])
  if (/^\d{10}$/.test(text) && Number(text) > MAX_TIMER_MS)
    headers['connect-timeout-ms'] = String(MAX_TIMER_MS)
}

function protocolOf(headers: IncomingHttpHeaders): Protocol {
  const type = (headers['content-type'] ?? '').toLowerCase()
  if (type.startsWith('application/grpc-web')) return 'grpc-web'
  return type.startsWith('application/grpc') ? 'grpc' : 'connect'
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
  const { id: requestId, client, response, raw } = request
  const recordError = (error: ServiceError) => {
    request.rejection = error
  }
  const recordQuote = (quote: QuoteSummary) => {
    request.quote = quote
  }
  const recordReached = () => {
    request.isCounted = true
  }
  return createContextValues().set(requestKey, {
    requestId,
    client,
    protocol: protocolOf(request.headers),
    traceparent: readTraceparent(request.headers.traceparent),
    abandon: () => cut(request),
    isDrained: () => response?.writableLength === 0,
    unsentBytes: () => response?.writableLength ?? 0,
    keepOpen: () => 'stream' in raw && keepOpen(raw.stream as ServerHttp2Stream),
    hostOf: () => request.host,
    recordReached,
    recordError,
    recordQuote,
  })
}
