import type { Socket } from 'node:net'
import { createFrameReader, FLAG, FRAME } from './http2-frames.js'

/** How much of a response has arrived. */
export interface AnswerProgress {
  /** Its headers have arrived. */
  readonly hasHeaders: boolean
  /** A part of its body has arrived. */
  readonly hasData: boolean
  /** The whole response has arrived. */
  readonly isWhole: boolean
}

/**
 * Reads a response from a connection as far as it has arrived. A short response of HTTP/1.1 arrives in one
 * piece.
 */
export function readAnswer(socket: Socket, protocol: 'HTTP/1.1' | 'HTTP/2' | 'WebSocket'): AnswerProgress {
  const progress = { hasHeaders: false, hasData: false, isWhole: false }
  if (protocol === 'HTTP/2') {
    const read = createFrameReader(({ type, flags, stream, payload }) => {
      if (stream === 0) return
      progress.hasHeaders ||= type === FRAME.headers
      progress.hasData ||= type === FRAME.data && payload.length > 0
      progress.isWhole ||= type <= FRAME.headers && (flags & FLAG.endStream) !== 0
    })
    socket.on('data', read)
    return progress
  }
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    if (progress.hasData) return
    text += chunk.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    progress.hasHeaders = end >= 0
    progress.hasData = end >= 0 && text.length > end + 4
    progress.isWhole = progress.hasData
  })
  return progress
}
