import type { Batch, Entry } from './tail-buffer.js'

/**
 * Encodes each entry once and each batch once, however many subscribers receive them.
 * @param encode encodes one entry
 */
export function encodeOnce(encode: (entry: Entry) => Buffer): (batch: Batch) => Buffer {
  const entries = new WeakMap<Entry, Buffer>()
  const batches = new WeakMap<Batch, Buffer>()

  const bytesOf = (entry: Entry): Buffer => {
    const bytes = entries.get(entry) ?? encode(entry)
    entries.set(entry, bytes)
    return bytes
  }

  return (batch) => {
    const [only] = batch
    if (batch.length === 1 && only !== undefined) return bytesOf(only)
    const bytes = batches.get(batch) ?? Buffer.concat(batch.map(bytesOf))
    batches.set(batch, bytes)
    return bytes
  }
}
