import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { closeQueuedResponse } from '../../internals/node-http.js'

/** How long a client may take, in milliseconds. The server ends the connection of a slower one. */
export interface ClientTimeouts {
  /** To show which protocol it speaks, and to send a request's headers. */
  readonly headersMs: number
  /** To send a whole request. */
  readonly requestMs: number
  /** Until its next request on the same connection. */
  readonly keepAliveMs: number
  /** To answer an HTTP/2 ping. While requests are open, the server sends a ping at this interval. */
  readonly pingMs: number
  /** To read a part of a response that waits to be sent; on HTTP/2 up to twice as long. */
  readonly stalledMs: number
  /** To read responses when so many wait, because the client sent requests ahead, that the server reads no more. */
  readonly pausedMs: number
  /** To read the open responses on an HTTP/2 session that was closed. */
  readonly closeMs: number
}

export const DEFAULT_TIMEOUTS: ClientTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  keepAliveMs: 65_000,
  pingMs: 30_000,
  stalledMs: 15_000,
  pausedMs: 1500,
  closeMs: 10_000,
}

interface ResponseListener {
  /** Called when a request has arrived, before it is handled. */
  onBegin(response: ServerResponse): void
  /** Called when a response is complete, or its connection has ended. */
  onEnd(): void
}

/** HTTP/1.1 requests that a client may send on a connection before it has their responses. */
const MAX_UNANSWERED_REQUESTS = 16

/**
 * Bounds the HTTP/1.1 responses that a connection waits for. The server ends the connection of a client that sends too
 * many requests ahead, does not read, or keeps the server from reading for too long.
 * @returns whether a connection waits for a response
 */
export function supervisePendingResponses(
  server: Server,
  timeouts: ClientTimeouts,
  { onBegin, onEnd }: ResponseListener,
): (socket: Socket) => boolean {
  /** In the order of their requests. */
  const responses = new WeakMap<Socket, Set<ServerResponse>>()

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (socket.destroyed) return
    const pending = responsesOf(socket)
    if (pending.size >= MAX_UNANSWERED_REQUESTS) return void socket.destroy()
    onBegin(response)
    pending.add(response)
    response.on('close', forget)
  })
  server.on('timeout', (socket) => {
    if (!hasPending(socket) || isStalled(socket)) socket.destroy()
  })

  function forget(this: ServerResponse): void {
    responses.get(this.req.socket)?.delete(this)
    onEnd()
  }

  const hasPending = (socket: Socket) => (responses.get(socket)?.size ?? 0) > 0

  function responsesOf(socket: Socket): Set<ServerResponse> {
    const known = responses.get(socket)
    if (known !== undefined) return known
    const pending = new Set<ServerResponse>()
    responses.set(socket, pending)
    destroyWhenPaused(socket, timeouts.pausedMs)
    socket.once('close', () => {
      for (const response of pending) closeQueuedResponse(response)
    })
    return pending
  }

  return hasPending
}

/** Node stops reading when too many responses to requests sent ahead wait, and then does not see the client leave. */
function destroyWhenPaused(socket: Socket, timeoutMs: number): void {
  let timer: NodeJS.Timeout | undefined
  const stopTimer = () => {
    clearTimeout(timer)
    timer = undefined
  }
  socket
    .on('pause', () => {
      timer ??= setTimeout(() => socket.destroy(), timeoutMs)
    })
    .on('resume', () => {
      if (!socket.isPaused()) stopTimer()
    })
    .once('close', stopTimer)
}

/**
 * Whether the client does not read, when nothing has moved on its connection for a while. Otherwise the response is not
 * ready.
 */
function isStalled(socket: Socket): boolean {
  return socket.writableLength > 0
}

/**
 * The sessions of an HTTP/2 server.
 * Ends the sessions and streams of clients that have left, send nothing or read nothing: Node has no timeouts for them.
 */
export function superviseSessions(server: Http2Server, timeouts: ClientTimeouts) {
  /** For each session that is not closing yet, the function that closes it. */
  const closers = new Map<ServerHttp2Session, () => void>()
  server.on('session', (session) => {
    const streams = collectStreams(session, timeouts)
    const close = () => {
      if (closers.delete(session)) closeInTime(session, streams, timeouts.closeMs)
    }
    closers.set(session, close)
    session.once('close', () => closers.delete(session))
    session.once('goaway', close)
    // This also covers a request that was begun and never completed, which makes no stream.
    session.setTimeout(timeouts.keepAliveMs, () => (streams.size === 0 ? session.destroy() : close()))
    destroyWithoutPong(session, streams, timeouts.pingMs)
    cutStalled(session, streams, timeouts.stalledMs)
  })
  return {
    /** Closes each session when its open requests have ended. */
    close(): void {
      for (const close of closers.values()) close()
    },
  }
}

/** The streams whose clients may go on sending. */
const keptOpen = new WeakSet<ServerHttp2Stream>()

/** Lets the request of a stream be incomplete for as long as its client stays. */
export function keepOpen(stream: ServerHttp2Stream): void {
  keptOpen.add(stream)
}

function collectStreams(session: ServerHttp2Session, { requestMs }: ClientTimeouts): Set<ServerHttp2Stream> {
  const streams = new Set<ServerHttp2Stream>()
  session.on('stream', (stream) => {
    streams.add(stream)
    let timer: NodeJS.Timeout | undefined = setTimeout(() => {
      timer = undefined
      const isWhole = stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE
      if (!isWhole && !keptOpen.has(stream)) stream.close(constants.NGHTTP2_CANCEL)
    }, requestMs)
    stream.once('close', () => {
      streams.delete(stream)
      clearTimeout(timer)
    })
  })
  return streams
}

/** Closes a session, unless its client has done so. Destroys it later if the client does not read what is left. */
function closeInTime(
  session: ServerHttp2Session,
  streams: ReadonlySet<ServerHttp2Stream>,
  closeMs: number,
): void {
  if (!session.closed) session.close()
  repeat(session, closeMs, () => {
    if ([...streams].some(isUnsent)) session.destroy()
  })
}

/** Sends pings while streams are open. A reply repeats the ping's bytes, which a client knows only if it reads. */
function destroyWithoutPong(
  session: ServerHttp2Session,
  streams: ReadonlySet<ServerHttp2Stream>,
  pingMs: number,
): void {
  let isUnanswered = false
  repeat(session, pingMs, () => {
    if (isUnanswered) return session.destroy()
    if (streams.size === 0) return
    isUnanswered = true
    const payload = randomBytes(8)
    session.ping(payload, (error, _durationMs, pong) => {
      if (error === null && payload.equals(pong)) isUnanswered = false
    })
  })
}

/**
 * Cancels each stream of which the client took no whole write from one check to the next. Long bodies are written in
 * slices. The streams' own timeouts do not help: Node restarts them with anything that is sent on the session.
 */
function cutStalled(
  session: ServerHttp2Session,
  streams: ReadonlySet<ServerHttp2Stream>,
  stalledMs: number,
): void {
  let before = new Map<ServerHttp2Stream, number>()
  // Slices have one length, so the unsent length may be the same although the client took some.
  const drained = new Set<ServerHttp2Stream>()
  session.on('stream', (stream) => stream.on('drain', () => drained.add(stream)))
  repeat(session, stalledMs, () => {
    for (const stream of streams) {
      if (!isUnsent(stream) || drained.has(stream) || before.get(stream) !== stream.writableLength) continue
      // The stream was cancelled at an earlier check, and could not send even that.
      if (stream.closed) return session.destroy()
      stream.close(constants.NGHTTP2_CANCEL)
    }
    drained.clear()
    before = new Map([...streams].map((stream) => [stream, stream.writableLength]))
  })
}

function isUnsent(stream: ServerHttp2Stream): boolean {
  return stream.writableLength > 0
}

function repeat(session: ServerHttp2Session, intervalMs: number, action: () => void): void {
  const timer = setInterval(action, intervalMs)
  session.once('close', () => clearInterval(timer))
}
