import type { WebSocket } from 'ws'

interface LimitedWebSocket extends WebSocket {
  readonly _receiver: { _maxPayload: number }
}

/**
 * Changes the limit of a WebSocket's messages in bytes, from the next message on. ws has one limit for all sockets of a
 * server, its option `maxPayload`. Its receiver reads the limit for each frame. Checked with ws 8.21.0.
 */
export function setMessageLimit(socket: WebSocket, maxBytes: number): void {
  ;(socket as LimitedWebSocket)._receiver._maxPayload = maxBytes
}
