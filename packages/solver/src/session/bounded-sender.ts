import type { WebSocket } from 'ws'

/** Bytes that may wait for an instance that does not read. An answer has about 1 KB. */
export const MAX_UNSENT_BYTES = 1024 * 1024

/**
 * Sends messages and pongs on a socket, and bounds what waits there.
 * @param socket its option `autoPong` must be false
 * @param onFull called in place of a send when too much waits: the instance does not read
 * @returns sends a message; it does nothing when the socket is not open
 */
export function createBoundedSender(socket: WebSocket, onFull: () => void): (text: string) => void {
  function whenOpen(send: () => void): void {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) onFull()
    else send()
  }

  socket.on('ping', (data) => whenOpen(() => socket.pong(data)))
  return (text) => whenOpen(() => socket.send(text))
}
