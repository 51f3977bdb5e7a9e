import { Readable } from 'node:stream'

const SLICE_BYTES = 16 * 1024

/** A long body in slices, so that the server sees whether a slow client reads any of them. */
export function sliced(body: Buffer): Readable {
  const count = Math.ceil(body.length / SLICE_BYTES)
  return Readable.from(
    Array.from({ length: count }, (_, index) =>
      body.subarray(index * SLICE_BYTES, (index + 1) * SLICE_BYTES),
    ),
  )
}
