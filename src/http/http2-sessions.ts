import { randomBytes } from 'node:crypto'
import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { ClientTimeouts } from './client-timeouts.js'

/** The sessions of an HTTP/2 server. */
export interface Http2Sessions {
  /** Ends each with the requests under way on it. */
  close(): void
}

/** Ends the sessions and streams of clients that are gone, silent, or take nothing: Node has no deadlines for them. */
export function superviseSessions(server: Http2Server, timeouts: ClientTimeouts): Http2Sessions {
  /** Of the sessions that are not closing yet. */
  const closers = new Map<ServerHttp2Session, () => void>()
  server.on('session', (session) => {
    const streams = collectStreams(session, timeouts)
    const close = () => {
      if (closers.delete(session)) closeInTime(session, streams, timeouts.closeMs)
    }
    closers.set(session, close)
    session.once('close', () => closers.delete(session))
    session.once('goaway', close)
    // Also when a request was begun and never completed, which makes no stream.
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

function collectStreams(session: ServerHttp2Session, { requestMs }: ClientTimeouts): Set<ServerHttp2Stream> {
  const streams = new Set<ServerHttp2Stream>()
  session.on('stream', (stream) => {
    streams.add(stream)
    const timer = setTimeout(() => {
      const isWhole = stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE
      if (!isWhole) stream.close(constants.NGHTTP2_CANCEL)
    }, requestMs)
    stream.once('close', () => {
      streams.delete(stream)
      clearTimeout(timer)
    })
  })
  return streams
}

/** Closes a session, unless its client has done so, and destroys it later if the client does not take what is left. */
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

/** Sends pings while something is under way. An answer repeats the ping's bytes, which a client can only know by reading. */
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
    session.ping(payload, (error, _durationMs, answer) => {
      if (error === null && payload.equals(answer)) isUnanswered = false
    })
  })
}

/**
 * Cuts the streams of which no whole write was taken from one look to the next: long bodies come in slices. Their own
 * time-outs do not serve: Node starts them again with anything that is sent on the session.
 */
function cutStalled(
  session: ServerHttp2Session,
  streams: ReadonlySet<ServerHttp2Stream>,
  stalledMs: number,
): void {
  let before = new Map<ServerHttp2Stream, number>()
  // Slices have one length, so what is left unsent may be the same although some were taken.
  const drained = new Set<ServerHttp2Stream>()
  session.on('stream', (stream) => stream.on('drain', () => drained.add(stream)))
  repeat(session, stalledMs, () => {
    for (const stream of streams) {
      if (!isUnsent(stream) || drained.has(stream) || before.get(stream) !== stream.writableLength) continue
      // One that was cut before has not been able to send even that.
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
