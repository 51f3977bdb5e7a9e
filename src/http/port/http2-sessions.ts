import { randomBytes } from 'node:crypto'
import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { ClientTimeouts } from './client-timeouts.js'

/** The sessions of an HTTP/2 server. */
export interface Http2Sessions {
  /** Closes each session when its open requests have ended. */
  close(): void
}

/** Ends the sessions and streams of clients that have left, send nothing or read nothing: Node has no timeouts for them. */
export function superviseSessions(server: Http2Server, timeouts: ClientTimeouts): Http2Sessions {
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
    close() {
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
