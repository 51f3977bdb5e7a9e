import type { Batch, Entry } from './tail-buffer.js'

/** Encodes each object once, however many receive it, and keeps the result as long as the object exists. It must not change. */
export function encodeOnce<From extends object, To>(encode: (from: From) => To): (from: From) => To {
  const encoded = new WeakMap<From, To>()
  return (from) => {
    const to = encoded.get(from) ?? encode(from)
    encoded.set(from, to)
    return to
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
