/** Frames of HTTP/2 as bytes (RFC 9113), for clients that break rules which a library keeps. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Frame types (RFC 9113, section 6). */
export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4 } as const
/** Flags. An acknowledgement has the same bit as the end of a stream. */
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const
const INITIAL_WINDOW_SIZE = 4
const HEADER_BYTES = 9

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** @param window how many bytes of each response the client takes before it asks for more */
export function settingsFrame(window: number): Buffer {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(INITIAL_WINDOW_SIZE, 0)
  payload.writeUInt32BE(window, 2)
  return frame(FRAME.settings, 0, 0, payload)
}

/** A whole header block, each field literal, without Huffman coding and without indexing (RFC 7541, section 6.2.2). */
export function headersFrame(stream: number, headers: Record<string, string>, endStream: boolean): Buffer {
  const fields = Object.entries(headers).flatMap(([name, value]) => [
    Buffer.from([0]),
    literal(name),
    literal(value),
  ])
  return frame(
    FRAME.headers,
    FLAG.endHeaders | (endStream ? FLAG.endStream : 0),
    stream,
    Buffer.concat(fields),
  )
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text)
  const prefix = 127
  if (bytes.length < prefix) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const rest = bytes.length - prefix
  if (rest > 0x3fff) throw new RangeError('a header field is never so long')
  const length = rest < 0x80 ? [rest] : [(rest & 0x7f) | 0x80, rest >> 7]
  return Buffer.concat([Buffer.from([prefix, ...length]), bytes])
}
