import {
  createServer as createHttp1Server,
  IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import {
  constants,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type ServerHttp2Session,
} from 'node:http2'
import { Server as NetServer, type Socket } from 'node:net'

/** A server that speaks HTTP/1.1 and cleartext HTTP/2 on one port, and can be drained. */
export interface OnePortServer {
  /** For Fastify, which calls `closeIdleConnections` and `closeHttp2Sessions` when it closes. */
  readonly server: Server
  /**
   * Takes no more connections; each that there is ends with its next answer. Who sends a request at that moment on one
   * that was idle gets an answer, and not a reset.
   * @returns when none is left, after `timeoutMs` at the latest
   */
  drain(timeoutMs: number): Promise<void>
  /** Ends every connection that is still open. */
  destroyConnections(): void
}

/** How long a client may take, in milliseconds; a slower one is dropped. */
export interface ClientTimeouts {
  /** To say which protocol it speaks, and to send a request's headers. */
  readonly headersMs: number
  /** To send a whole request. */
  readonly requestMs: number
  /** Until its next request on the same connection. */
  readonly keepAliveMs: number
  /** To answer a ping of HTTP/2, sent as often while something is under way. */
  readonly pingMs: number
}

const CLIENT_TIMEOUTS: ClientTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  keepAliveMs: 65_000,
  pingMs: 30_000,
}
const MAX_HEADER_BYTES = 16 * 1024
const MAX_STREAMS_PER_SESSION = 256
/** HTTP/2 connections begin with `PRI * HTTP/2.0`; no method of HTTP/1.1 begins with these bytes. */
const HTTP2_BEGINNING = Buffer.from('PRI')

/**
 * Builds the server: an HTTP/1.1 server that hands the connections that begin as HTTP/2 to an HTTP/2 server. Once it
 * is closing, a connection ends with the answer under way on it.
 */
export function createOnePortServer(handler: RequestListener, timeouts = CLIENT_TIMEOUTS): OnePortServer {
  const http1 = createHttp1Server(http1Options(timeouts), handler)
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: MAX_STREAMS_PER_SESSION, maxHeaderListSize: MAX_HEADER_BYTES } },
    handler as never,
  )
  const undecided = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const connections = new Set<Socket>()
  let onLastGone = () => {}
  let isDraining = false
  let isClosing = false

  const serveHttp1 = http1.listeners('connection')
  http1.removeAllListeners('connection')
  http1.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => {
      connections.delete(socket)
      if (connections.size === 0) onLastGone()
    })
    undecided.add(socket)
    const timer = setTimeout(() => socket.destroy(), timeouts.headersMs)
    const settle = () => {
      clearTimeout(timer)
      undecided.delete(socket)
      socket.off('close', settle)
    }
    socket.once('close', settle)
    readBeginning(socket, (isHttp2) => {
      settle()
      if (isHttp2) http2.emit('connection', socket)
      else for (const serve of serveHttp1) serve.call(http1, socket)
    })
  })

  // What else a client expects, it will see from the answer.
  http1.on('checkExpectation', (request, response) => http1.emit('request', request, response))
  http2.on('checkExpectation', (request, response) => http2.emit('request', request, response))

  http1.prependListener('request', (_request, response) => {
    if (isDraining) response.shouldKeepAlive = false
    response.once('close', () => {
      if (isClosing) setImmediate(() => http1.closeIdleConnections())
    })
  })
  http2.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    endWhenSilent(session, timeouts)
  })
  http2.on('request', (request) => limitBodyTime(request, timeouts.requestMs))

  return {
    server: Object.assign(http1, {
      closeHttp2Sessions() {
        isClosing = true
        for (const session of sessions) session.close()
        for (const socket of undecided) socket.destroy()
      },
    }),
    async drain(timeoutMs) {
      isDraining = true
      // Node's own close would end idle connections at once.
      NetServer.prototype.close.call(http1)
      for (const session of sessions) session.close()
      if (connections.size === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        onLastGone = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    destroyConnections() {
      http1.closeAllConnections()
      for (const session of sessions) session.destroy()
    },
  }
}

function http1Options({ headersMs, requestMs, keepAliveMs, pingMs }: ClientTimeouts) {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.ceil(headersMs / 10),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Finds out that a client is gone to which nothing is written for a while.
    keepAlive: true,
    keepAliveInitialDelay: pingMs,
    IncomingMessage: UpgradableRequest,
  }
}

/**
 * A request whose wish for another protocol counts only when that is a WebSocket. Any other may be ignored (RFC 9110,
 * section 7.8), and must be: some clients ask for `h2c` with every first request.
 */
class UpgradableRequest extends IncomingMessage {
  declare private wantsUpgrade: boolean | null

  get upgrade(): boolean {
    const isWebSocket = this.headers.upgrade?.toLowerCase() === 'websocket'
    return this.wantsUpgrade === true && (isWebSocket || this.method === 'CONNECT')
  }

  /** Set by Node's parser, in the constructor to begin with. */
  set upgrade(wantsUpgrade: boolean | null) {
    this.wantsUpgrade = wantsUpgrade
  }
}

/** Reads until it is clear which protocol a connection speaks, and puts what was read back. */
function readBeginning(socket: Socket, decide: (isHttp2: boolean) => void): void {
  let beginning = Buffer.alloc(0)
  // Stays for as long as the connection, so it holds nothing.
  socket.on('error', destroy)
  socket.once('end', destroy)
  socket.on('readable', function onReadable() {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    beginning = Buffer.concat([beginning, chunk])
    const compared = Math.min(beginning.length, HTTP2_BEGINNING.length)
    const mayBeHttp2 = HTTP2_BEGINNING.subarray(0, compared).equals(beginning.subarray(0, compared))
    if (mayBeHttp2 && compared < HTTP2_BEGINNING.length) return
    socket.off('readable', onReadable)
    socket.off('end', destroy)
    socket.unshift(beginning)
    decide(mayBeHttp2)
  })
}

function destroy(this: Socket): void {
  this.destroy()
}

/**
 * A session on which nothing is asked ends at once, also when a request was begun there and never made whole. One whose
 * client has gone without a word is found out by a ping.
 */
function endWhenSilent(session: ServerHttp2Session, { keepAliveMs, pingMs }: ClientTimeouts): void {
  let streams = 0
  let isPingUnanswered = false
  session.on('stream', (stream) => {
    streams++
    stream.once('close', () => {
      streams--
    })
  })
  session.setTimeout(keepAliveMs, () => (streams === 0 ? session.destroy() : session.close()))
  const timer = setInterval(() => {
    if (isPingUnanswered) return session.destroy()
    if (streams === 0) return
    isPingUnanswered = true
    session.ping(() => {
      isPingUnanswered = false
    })
  }, pingMs)
  session.once('close', () => clearInterval(timer))
}

/** Node's HTTP/2 server has no time-out of its own for a body that never ends. */
function limitBodyTime({ stream }: Http2ServerRequest, requestMs: number): void {
  const timer = setTimeout(() => {
    const isWhole = stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE
    if (!isWhole) stream.close(constants.NGHTTP2_CANCEL)
  }, requestMs)
  stream.once('close', () => clearTimeout(timer))
}
