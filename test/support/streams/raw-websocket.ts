/** The handshake of a WebSocket, for a client that no library would be (RFC 6455, section 4.1). */
export const webSocketHandshake = (path: string, host = 'a'): string =>
  `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`

export const OPCODE = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const

/** A masked frame of a client (RFC 6455, section 5.2), with a mask of zero. The last one of a message is final. */
export function webSocketFrame(opcode: number, payload: string | Buffer = '', isFinal = true): Buffer {
  const bytes = Buffer.from(payload)
  const { length } = bytes
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, ...size, 0, 0, 0, 0]), bytes])
}
