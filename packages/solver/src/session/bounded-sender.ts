import type { WebSocket } from 'ws'

/** Bytes that may wait for an instance that does not read. An answer has about 1 KB. */
export const MAX_UNSENT_BYTES = 1024 * 1024

/**
 * Sends messages on a socket, and bounds what waits there. While a pong waits, the instance's pings get none: it does not read.
 * @param socket its option `autoPong` must be false
 * @param onFull called in place of a send when too much waits: the instance does not read
 * @returns sends a message; it does nothing when the socket is not open
 */
export function createBoundedSender(socket: WebSocket, onFull: () => void): (text: string) => void {
  let isPongUnsent = false
  socket.on('ping', (data) => {
    if (isPongUnsent || socket.readyState !== socket.OPEN) return
    isPongUnsent = true
    socket.pong(data, true, () => {
      isPongUnsent = false
    })
  })
  return (text) => {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) onFull()
    else socket.send(text)
  }
}
