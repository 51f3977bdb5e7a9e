import type { pino } from 'pino'

type Stream = ReturnType<typeof pino.destination>

/** sonic-boom's chunks of lines, the length of each, and the bytes of all that is not written. */
interface Parts {
  readonly _bufs: Buffer[][]
  readonly _lens: number[]
  readonly _writingBuf: Buffer
  readonly _len: number
}

/**
 * Has a stream in the mode `buffer` continue after what a failed `flushSync` has written of its first chunk. sonic-boom 5.0.2
 * counts these bytes, but writes them again. So a line would begin in the middle of another one.
 */
export function keepFlushProgress(stream: Stream): void {
  const { _bufs, _lens, _writingBuf, _len } = stream as unknown as Parts
  const [chunk, length] = [_bufs[0], _lens[0]]
  if (chunk === undefined || length === undefined) return
  const kept = _lens.reduce((sum, bytes) => sum + bytes, _writingBuf.length)
  const written = kept - _len
  if (written <= 0) return
  _bufs[0] = [Buffer.concat(chunk).subarray(written)]
  _lens[0] = length - written
}
