import type { Batch, Entry } from './tail-buffer.js'

/** Encodes each value once, however many subscribers receive it. */
export function encodeOnce<T extends object>(encode: (value: T) => Buffer): (value: T) => Buffer {
  const encoded = new WeakMap<T, Buffer>()
  return (value) => {
    const bytes = encoded.get(value) ?? encode(value)
    encoded.set(value, bytes)
    return bytes
  }
}

/**
 * Encodes each entry once and each batch once, however many subscribers receive them.
 * @param encode encodes one entry
 */
export function encodeBatches(encode: (entry: Entry) => Buffer): (batch: Batch) => Buffer {
  const bytesOf = encodeOnce(encode)
  const bytesOfAll = encodeOnce((batch: Batch) => Buffer.concat(batch.map(bytesOf)))
  return (batch) => {
    const [only] = batch
    return batch.length === 1 && only !== undefined ? bytesOf(only) : bytesOfAll(batch)
  }
}
