import { Readable } from 'node:stream'

const SLICE_BYTES = 16 * 1024

/** A long body in slices, so that the server sees whether a slow client reads any of them. */
export function sliced(...parts: readonly Buffer[]): Readable {
  return Readable.from(parts.flatMap(slicesOf))
}

function slicesOf(part: Buffer): Buffer[] {
  const count = Math.ceil(part.length / SLICE_BYTES)
  return Array.from({ length: count }, (_, index) =>
    part.subarray(index * SLICE_BYTES, (index + 1) * SLICE_BYTES),
  )
}
