import type { WebSocket } from 'ws'

/** Bytes that may wait for an instance that does not read. An answer has about 1 KB. */
export const MAX_UNSENT_BYTES = 1024 * 1024

/**
 * Sends messages on a socket, and bounds what waits there. While a pong waits, only the last of the instance's pings is kept
 * for an answer (RFC 6455, section 5.5.3).
 * @param socket its option `autoPong` must be false
 * @param onFull called in place of a send when too much waits: the instance does not read
 * @returns sends a message; it does nothing when the socket is not open
 */
export function createBoundedSender(socket: WebSocket, onFull: () => void): (text: string) => void {
  let isPongUnsent = false
  let lastPing: Buffer | undefined

  function sendPong(data: Buffer): void {
    isPongUnsent = true
    socket.pong(data, true, () => {
      isPongUnsent = false
      const next = lastPing
      lastPing = undefined
      if (next !== undefined && socket.readyState === socket.OPEN) sendPong(next)
    })
  }

  socket.on('ping', (data) => {
    if (socket.readyState !== socket.OPEN) return
    if (isPongUnsent) lastPing = data
    else sendPong(data)
  })
  return (text) => {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) onFull()
    else socket.send(text)
  }
}
