import type { Socket } from 'node:net'
import { createFrameReader, FLAG, FRAME } from './http2-frames.js'

/** How much of an answer has come. */
export interface AnswerProgress {
  /** Its headers are there. */
  readonly hasHeaders: boolean
  /** Something of its body is there. */
  readonly hasData: boolean
  /** All of it is there. */
  readonly isWhole: boolean
}

/** Reads an answer from a connection, as far as it comes. A short answer of HTTP/1.1 comes in one piece. */
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
