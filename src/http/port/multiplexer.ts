import { createServer as createHttp1Server, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { ClientCounts } from '../../clients/client-counts.js'
import { identifyClient } from '../../clients/client-id.js'
import { interceptConnections, stopListening } from '../../internals/node-http.js'
import { asksForWebSocket, upgradeFilter } from './header-rules.js'
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
