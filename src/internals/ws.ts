import { Sender, type WebSocket } from 'ws'

declare module 'ws' {
  /** Missing in the types of ws, and in its documentation. */
  export const Sender: {
    frame(data: Buffer, options: { readonly fin: boolean; readonly opcode: number }): Buffer[]
  }
}

/** RFC 6455, section 5.2. */
const TEXT_OPCODE = 1

/**
 * Makes the frame of a text message from the server, as ws does for `WebSocket.send`. One frame then serves all clients: a
 * server may write it to the connection of each of its WebSockets, next to ws's own frames.
 *
 * This is correct under two conditions. The sockets have no permessage-deflate, whose frames depend on earlier ones. And ws
 * writes each of its own frames in one turn of the event loop, so that no frame is written within another. Checked with ws
 * 8.21.0, which has both with `perMessageDeflate: false` and data that is not a `Blob`.
 */
export function textFrame(text: string): Buffer {
  return Buffer.concat(Sender.frame(Buffer.from(text), { fin: true, opcode: TEXT_OPCODE }))
}

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
