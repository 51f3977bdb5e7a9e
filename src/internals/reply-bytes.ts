import type { Socket } from 'node:net'

/** Codes of the errors by which the other side ends a connection; the last one is undici's for an orderly end. */
const ENDED_BY_OTHER_SIDE: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

export interface WatchOptions {
  /** The limit of a whole reply on the wire, with its framing and with informational responses before it. */
  readonly maxReplyBytes: number
  /** Makes the error that ends a connection with a longer reply. */
  readonly tooLong: () => Error
  /** Gets the errors of kept connections that the other side has closed before any byte of the reply. */
  readonly lost: WeakSet<Error>
}

/**
 * Counts the bytes of each reply on a connection of undici. A reply begins with the first bytes after a request was written.
 *
 * It ends an endless reply: undici does not count the bytes outside of body and headers, such as informational responses, chunk
 * extensions and blanks.
 *
 * It notes the error of a kept connection that the other side closes instead of a reply: after the connection has carried a reply, and
 * before any byte of the next one. Servers close idle connections at times that clients do not know, also while a request is on
 * its way. undici rejects the request with the error of the socket, the same object. This is not documented. Checked with undici
 * 7.30.
 * @param socket a new connection on which nothing was written yet
 */
export function watchReplies(socket: Socket, { maxReplyBytes, tooLong, lost }: WatchOptions): void {
  const writtenAtStart = socket.bytesWritten
  /** The counts of the socket when the last bytes came. */
  let written = writtenAtStart
  let read = socket.bytesRead
  /** Where the last reply begins. */
  let beginning = read
  socket.on('readable', () => {
    // The end of a connection is readable too.
    if (socket.bytesRead === read) return
    if (socket.bytesWritten !== written) beginning = read
    written = socket.bytesWritten
    read = socket.bytesRead
    if (read - beginning > maxReplyBytes) socket.destroy(tooLong())
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const isKept = written > writtenAtStart
    const isUnanswered = socket.bytesWritten > written && socket.bytesRead === read
    if (isKept && isUnanswered && ENDED_BY_OTHER_SIDE.includes(error.code)) lost.add(error)
  })
}
