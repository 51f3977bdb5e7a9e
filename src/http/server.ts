import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { cors as connectCors } from '@connectrpc/connect'
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Fastify from 'fastify'
import type { ServiceError } from '../../packages/protocol/src/errors.js'
import { MAX_BODY_KIB } from '../../packages/protocol/src/field-rules.js'
import type { Config } from '../config/config.js'
import { toListenIssue } from '../config/environment.js'
import type { KeyRing } from '../rpc/limits/key-ring.js'
import type { RateLimits } from '../rpc/limits/rate-limits.js'
import type { MethodHandler } from '../rpc/middleware.js'
import { type AddService, rpcServices } from '../rpc/router.js'
import type { EventStreams } from '../rpc/streams/event-streams.js'
import type { QuoteStreams } from '../rpc/streams/quote-streams.js'
import type { SolverSessions } from '../rpc/streams/solver-sessions.js'
import type { Logger } from '../telemetry/log.js'
import { findHeaderError } from './port/header-rules.js'
import { createMultiplexer, MAX_HEADER_BYTES, type Multiplexer } from './port/multiplexer.js'
import { DEFAULT_TIMEOUTS } from './port/slow-clients.js'
import { abandon, recordArrival, toLimitedCall } from './request.js'
import { createRequestLog } from './request-log.js'
import { registerErrorHandlers, rejectUndecodable, UNDECODABLE } from './rest/error-routes.js'
import { rejectUnparsable } from './rest/rest-errors.js'
import { registerRestRoutes } from './rest/transcoder.js'
import { registerRpc } from './rpc-routes.js'
import { registerEventRoutes } from './streams/event-routes.js'
import { registerQuoteStream } from './streams/quote-stream-route.js'
import { registerSessionRoute } from './streams/session-route.js'
import { type PendingUpgrades, registerWebSocketUpgrades } from './streams/websocket-upgrade.js'

interface HttpServerOptions {
  readonly config: Pick<
    Config,
    'host' | 'port' | 'corsOrigins' | 'trustProxy' | 'maxConnectionsPerIp' | 'logRequestSample'
  >
  readonly methods: readonly MethodHandler[]
  /** Undefined for a server without streams. */
  readonly streams: EventStreams | undefined
  readonly quoteStreams: QuoteStreams | undefined
  readonly solverSessions: SolverSessions
  readonly rateLimits: RateLimits
  readonly keys: Pick<KeyRing, 'identify'>
  /** Add gRPC's own services, which have no middleware. */
  readonly addServices: readonly AddService[]
  /** Adds the routes that are not methods, such as `/health`. */
  readonly addRoutes: (server: FastifyInstance) => void
  /** The HTML for a person at a path that does not exist; undefined without a console. */
  readonly lostPage?: ((path: string) => string) | undefined
  readonly log: Logger
}

/** The service's one port. */
export type HttpServer = Awaited<ReturnType<typeof createHttpServer>>

/** The longest request body. */
const MAX_BODY_BYTES = MAX_BODY_KIB * 1024

/**
 * Connections that wait until they are accepted, unless the system allows fewer. Node accepts one in each turn of the event
 * loop. Beyond its own 511, connections are dropped, and clients try again after seconds.
 */
const LISTEN_BACKLOG = 4096

/** Builds the server: gRPC, gRPC-Web, Connect and REST over the same methods with middleware (docs/decisions.md, D2). */
export async function createHttpServer(options: HttpServerOptions) {
  const { config, methods, streams, quoteStreams, solverSessions, rateLimits, keys, lostPage, log } = options
  const ports: Multiplexer[] = []
  const webSocketPaths = new Set<string>()
  const server = Fastify({
    serverFactory: (handler) => {
      const port = createMultiplexer(handler, {
        isWebSocketPath: (path) => webSocketPaths.has(path),
        maxConnectionsPerIp: config.maxConnectionsPerIp,
      })
      ports.push(port)
      return port.server
    },
    bodyLimit: MAX_BODY_BYTES,
    // The field's own check rejects long ones, after the check of the chain.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    trustProxy: trustedProxies(config.trustProxy),
    genReqId: createRequestIds(),
    rewriteUrl: routedUrl,
    clientErrorHandler: rejectUnparsable,
  })

  // Before Fastify closes its server.
  server.addHook('preClose', async () => {
    for (const port of ports) port.beginClose()
  })
  const logRequest = createRequestLog(server, log, config.logRequestSample)
  const context = { rateLimits, logRequest, lostPage, log }
  server.addHook('onRoute', ({ url, wsHandler }) => {
    if (wsHandler !== undefined) webSocketPaths.add(url)
  })
  const upgrades = superviseUpgrades(server, DEFAULT_TIMEOUTS.requestMs)
  /** Rejects a request before the check of any route, and counts it against the limit. */
  async function rejectCounted(
    error: ServiceError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<never> {
    await rateLimits.consume('global', toLimitedCall(request, reply))
    throw error
  }
  // Each request gets its own before anything reads it.
  server.decorateRequest('client')
  server.decorateRequest('arrivedAt', 0)
  server.addHook('onRequest', (request, reply, done) => {
    if (!recordArrival(request, keys)) return abandon(request, reply)
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id)
    const error = findHeaderError(request.raw)
    if (error === undefined) done()
    else rejectCounted(error, request, reply).catch(done)
  })
  registerErrorHandlers(server, context)
  rejectUndecodable(server, methods, context)
  await server.register(cors, corsOptions(config.corsOrigins))
  await server.register(async (rpc) => registerRpc(rpc, rpcServices(options), rejectCounted, MAX_BODY_BYTES))
  // A separate scope, as Connect has its own parsers of bodies.
  await server.register(async (rest) => {
    registerRestRoutes(rest, methods, context)
    if (quoteStreams !== undefined) registerQuoteStream(rest, quoteStreams, context)
  })
  await server.register(async (sockets) => {
    await registerWebSocketUpgrades(sockets, upgrades)
    if (streams !== undefined) registerEventRoutes(sockets, streams, context)
    registerSessionRoute(sockets, solverSessions, context)
  })
  options.addRoutes(server)

  return {
    /**
     * @returns the base URL, with the port that was free when `PORT` is 0
     * @throws ConfigError when the port cannot be opened
     */
    async listen(): Promise<string> {
      try {
        return await server.listen({ host: config.host, port: config.port, backlog: LISTEN_BACKLOG })
      } catch (error) {
        throw toListenIssue(error, { ...config, variable: 'PORT' })
      }
    },
    /**
     * Accepts no more connections, and waits for open requests. Ends idle connections after `drainMs` milliseconds: until
     * then, a request may come on them. Ends everything that is left `graceMs` milliseconds later.
     */
    async close(graceMs: number, drainMs: number): Promise<void> {
      if (drainMs > 0) await Promise.all(ports.map((port) => port.drain(drainMs)))
      const timer = setTimeout(() => {
        for (const port of ports) port.destroyConnections()
      }, graceMs)
      await server.close()
      clearTimeout(timer)
    },
  }
}

/** Builds ids that differ from those of other runs and instances. One random part for all of them is fast. */
function createRequestIds(): () => string {
  const run = randomBytes(8).toString('hex')
  let requests = 0
  return () => `${run}-${++requests}`
}

function trustedProxies(trustProxy: Config['trustProxy']) {
  if (trustProxy === 0) return false
  if (typeof trustProxy !== 'number') return [...trustProxy]
  return (_address: string, hop: number) => hop < trustProxy
}

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/**
 * Builds the options of CORS: what browsers of these origins may send on REST, server-sent events, Connect and gRPC-Web, and
 * read.
 * @param origins `*`, or each origin by itself
 */
function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: 'GET, POST, DELETE',
    allowedHeaders: [...connectCors.allowedHeaders, 'Last-Event-ID', 'Traceparent'].join(', '),
    exposedHeaders: [...connectCors.exposedHeaders, 'X-Request-Id', 'Retry-After', ...RATE_LIMIT_HEADERS],
    maxAge: 7200,
    strictPreflight: false,
  }
}

/**
 * Responses are data for any origin that CORS admits. None of them is a page that loads anything, except `/docs`
 * and the console.
 * Strict-Transport-Security belongs to the proxy that terminates TLS.
 */
const SECURITY_HEADERS = {
  // A cache would give a holder's answer to strangers. Files have a header of their own.
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/**
 * Destroys the connection of each rejected upgrade: when its response is sent, when the client ends it, or after
 * `timeoutMs`. Node no longer serves such a connection, so it would stay open. @fastify/websocket does the same, but only
 * for requests that reach the hooks of its own scope.
 * @param server the root scope, before it has other hooks
 */
export function superviseUpgrades(server: FastifyInstance, timeoutMs: number): PendingUpgrades {
  const releases = new WeakMap<IncomingMessage, () => void>()

  server.server.prependListener('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const destroy = () => void socket.destroy()
    const timer = setTimeout(destroy, timeoutMs)
    const release = () => {
      clearTimeout(timer)
      socket.off('end', destroy).off('close', release)
      releases.delete(request)
    }
    socket.on('end', destroy).on('close', release)
    releases.set(request, release)
  })
  server.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (releases.has(raw)) reply.raw.once('finish', () => raw.socket.destroy())
    done()
  })
  return { takeOver: (request) => releases.get(request)?.() }
}

/**
 * The URL by which the server finds the route of a request. Fastify would give a path that cannot be decoded, and an
 * absolute URL that cannot be read, to no route and no hook.
 */
function routedUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  if (!/^[/*]/.test(url) && !URL.canParse(url)) return UNDECODABLE
  if (!url.includes('%')) return url
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '')
    return url
  } catch {
    return UNDECODABLE
  }
}
