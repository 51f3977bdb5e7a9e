import { createServer as createHttp1Server, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttp2Server, type Http2ServerRequest } from 'node:http2'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { ClientCounts } from '../../clients/client-counts.js'
import { identifyClient } from '../../clients/client-id.js'
import { interceptConnections } from '../../internals/intercept-connections.js'
import { stopListening } from '../../internals/stop-listening.js'
import { upgradeFilter } from '../../internals/upgrade-filter.js'
import { createOpenConnections } from './open-connections.js'
import {
  type ClientTimeouts,
  DEFAULT_TIMEOUTS,
  supervisePendingResponses,
  superviseSessions,
} from './slow-clients.js'

/** A server that speaks HTTP/1.1 and cleartext HTTP/2 on one port, and can be drained. */
export type Multiplexer = ReturnType<typeof createMultiplexer>

interface MultiplexerOptions {
  /** Whether a path accepts WebSockets. At other paths, the server ignores the request for an upgrade. */
  readonly isWebSocketPath?: (path: string) => boolean
  readonly timeouts?: ClientTimeouts
  /** The most connections of one address; 0 is no limit. */
  readonly maxConnectionsPerIp?: number
}

export const MAX_HEADER_BYTES = 16 * 1024
const MAX_STREAMS_PER_SESSION = 256

/** Builds an HTTP/1.1 server that passes connections which begin as HTTP/2 to an HTTP/2 server. */
export function createMultiplexer(handler: RequestListener, options: MultiplexerOptions = {}) {
  const { isWebSocketPath = () => false, timeouts = DEFAULT_TIMEOUTS, maxConnectionsPerIp = 0 } = options
  const connections = createOpenConnections()
  const counts = new ClientCounts({ perClient: maxConnectionsPerIp, total: Number.POSITIVE_INFINITY })
  let isDraining = false
  let isClosing = false

  const isAccepted = (request: IncomingMessage) => {
    const { url = '', socket } = request
    const isAvailable = !isClosing && !socket.destroyed && !hasPendingResponses(socket)
    return isAvailable && asksForWebSocket(request) && isWebSocketPath(url.split('?', 1)[0] ?? '')
  }
  const http1 = createHttp1Server(http1Options(timeouts, isAccepted), (request, response) => {
    // Node reads the rest of a packet although its connection is destroyed.
    if (!request.socket.destroyed) handler(request, response)
  })
  http1.setTimeout(timeouts.stalledMs)
  const hasPendingResponses = supervisePendingResponses(http1, timeouts, {
    onBegin(response) {
      if (isDraining) response.setHeader('Connection', 'close')
    },
    onEnd() {
      if (isClosing) setImmediate(() => http1.closeIdleConnections())
    },
  })
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: MAX_STREAMS_PER_SESSION, maxHeaderListSize: MAX_HEADER_BYTES } },
    (request, response) => {
      // A client may send many requests and reset them in one packet. To handle each of them would keep the event loop busy.
      // Node reports a request before it reads what follows in the packet.
      setImmediate(() => {
        if (!request.stream.closed) handler(request as never, response as never)
      })
    },
  )
  const sessions = superviseSessions(http2, timeouts)

  interceptConnections(http1, (socket, serve) => {
    const client = identifyClient(socket.remoteAddress ?? '')
    if (counts.fullAt(client) !== undefined) return void socket.destroy()
    counts.add(client)
    socket.once('close', () => counts.remove(client))
    connections.add(socket, timeouts.headersMs, (protocol) => {
      if (protocol === 'http1') return serve()
      // Sockets of an HTTP/1.1 server may be half open. An HTTP/2 server does not expect that and would miss their end.
      socket.allowHalfOpen = false
      http2.emit('connection', socket)
    })
  })

  // A client sees from the response whether the server meets another expectation.
  http1.on('checkExpectation', (request, response) => http1.emit('request', request, response))
  http2.on('checkExpectation', (request, response) => http2.emit('request', request, response))

  return {
    /** To close it, call `beginClose` first: it ends HTTP/1.1 connections only. */
    server: http1,
    /**
     * Accepts no more connections. Each open one ends with its next response, so that a request that a client sends at that
     * moment on an idle connection gets a response and not a reset.
     * @returns when no connection is left, after `timeoutMs` at the latest
     */
    async drain(timeoutMs: number): Promise<void> {
      isDraining = true
      await stopListening(http1)
      sessions.close()
      await connections.untilNone(timeoutMs)
    },
    /**
     * Accepts no more upgrades, ends HTTP/1.1 connections after their open responses, and closes HTTP/2 sessions. Destroys
     * connections that have sent nothing.
     */
    beginClose(): void {
      isClosing = true
      sessions.close()
      connections.destroyUnidentified()
    },
    /** Destroys every open connection, also WebSockets. */
    destroyConnections: (): void => connections.destroyAll(),
  }
}

function http1Options(timeouts: ClientTimeouts, isAccepted: (request: IncomingMessage) => boolean) {
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.ceil(timeouts.headersMs / 10),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Detects that a client has left, when nothing is written to it for a while.
    keepAlive: true,
    keepAliveInitialDelay: timeouts.pingMs,
    IncomingMessage: upgradeFilter(isAccepted),
  }
}

function asksForWebSocket(request: IncomingMessage): boolean {
  const { headers, method } = request
  return (
    headers.upgrade?.toLowerCase() === 'websocket' &&
    method === 'GET' &&
    findHeaderError(request) === undefined
  )
}

type Request = IncomingMessage | Http2ServerRequest

const NOT_IMPLEMENTED = 501
const AUTHORITY_SHAPE = 'must be a host name or an IP address, with an optional port'

/**
 * Checks the host of a request, and the headers that a proxy before this service may read in another way than Node does.
 * REST accepts an empty Host and none, as health checks of load balancers send them.
 * @returns undefined for a valid request. Otherwise INVALID_ARGUMENT: 400 for a second or unusable Host header or
 * `:authority` (RFC 9112, section 3.2), 501 for a transfer coding before `chunked` (section 6.1).
 */
export function findHeaderError(request: Request): ServiceError | undefined {
  const { headers, rawHeaders } = request
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) return invalidRequest('header', 'Host', 'must be given once')
  if (!isUsable(authorityOf(request))) return authorityError(request)
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return invalidRequest('header', 'Transfer-Encoding', 'must be chunked, or left out', NOT_IMPLEMENTED)
  return undefined
}

/**
 * Checks the parts that Connect builds a URL from, in addition to `findHeaderError`. Connect logs a stack trace when
 * that fails.
 * @returns INVALID_ARGUMENT for an empty Host or none, and for a request target that is an unusable URL
 */
export function findTargetError(request: Request): ServiceError | undefined {
  if (!authorityOf(request)) return authorityError(request)
  const { url = '' } = request
  if (url.startsWith('/') || URL.canParse(url)) return undefined
  return invalidRequest('request', 'path', 'must be a valid URL path')
}

/** A name or address, with or without a port. A URL's parser would take more than the host from other text. */
const AUTHORITY = /^([\w.-]+|\[[0-9a-f:.]+\])(:[0-9]*)?$/i

function isUsable(authority: string | undefined): boolean {
  return !authority || (AUTHORITY.test(authority) && URL.canParse(`http://${authority}`))
}

function authorityOf(request: Request): string | undefined {
  return 'authority' in request ? request.authority : request.headers.host
}

function authorityError(request: Request): ServiceError {
  return invalidRequest('header', 'authority' in request ? ':authority' : 'Host', AUTHORITY_SHAPE)
}

function invalidRequest(part: string, field: string, message: string, httpStatus?: number): ServiceError {
  const status = httpStatus === undefined ? {} : { httpStatus }
  return new ServiceError('INVALID_ARGUMENT', `The ${part} ${field} ${message}.`, {
    ...status,
    violations: [{ field, message }],
  })
}
