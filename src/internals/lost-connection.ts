import type { Socket } from 'node:net'

/** Codes of the errors by which the other side ends a connection; the last one is undici's for an orderly end. */
const ENDED_BY_OTHER_SIDE: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/**
 * Notes the error of a kept connection that the other side closes instead of a response: after the connection has carried
 * a response, and before any byte of the next one. Servers close idle connections at times that clients do not know, also
 * while a request is on its way.
 *
 * undici rejects the request with the error of the socket, the same object. This is not documented. Checked with undici 7.30.
 * @param socket a new connection on which nothing was written yet
 */
export function noteLostConnection(socket: Socket, lost: WeakSet<Error>): void {
  const writtenAtStart = socket.bytesWritten
  /** The counts of the socket when the last bytes came. */
  let written = writtenAtStart
  let read = socket.bytesRead
  socket.on('readable', () => {
    // The end of a connection is readable too.
    if (socket.bytesRead === read) return
    written = socket.bytesWritten
    read = socket.bytesRead
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const isKept = written > writtenAtStart
    const isUnanswered = socket.bytesWritten > written && socket.bytesRead === read
    if (isKept && isUnanswered && ENDED_BY_OTHER_SIDE.includes(error.code)) lost.add(error)
  })
}
