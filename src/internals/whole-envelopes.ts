const HEAD_BYTES = 5

/**
 * Gathers the chunks of a body so that each that it gives holds whole envelopes. Connect's decoder adds up all chunks that it
 * has for each new one: a message of 64 KiB in chunks of one byte kept it busy for minutes. Checked with
 * @connectrpc/connect 2.1.2.
 * @param maxBytes the longest message. The head of a longer one is passed on at once.
 */
export async function* wholeEnvelopes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let gathered: Buffer = Buffer.alloc(0)
  let length = 0
  let wanted = HEAD_BYTES
  for await (const chunk of body) {
    if (length === 0 && endOfWhole(viewOf(chunk), maxBytes) === chunk.length) {
      yield chunk
      continue
    }
    if (length + chunk.length > gathered.length) gathered = enlarged(gathered, length, chunk.length)
    gathered.set(chunk, length)
    length += chunk.length
    if (length < wanted) continue
    const bytes = gathered.subarray(0, length)
    const end = endOfWhole(bytes, maxBytes)
    if (end > 0) yield bytes.subarray(0, end)
    gathered = Buffer.from(bytes.subarray(end))
    length = gathered.length
    wanted = envelopeBytes(gathered)
  }
  if (length > 0) yield gathered.subarray(0, length)
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** A buffer for at least these further bytes. It doubles, so that few chunks copy what is there. */
function enlarged(gathered: Buffer, length: number, added: number): Buffer {
  const larger = Buffer.alloc(length + Math.max(added, length))
  gathered.copy(larger, 0, 0, length)
  return larger
}

/** Where the last whole envelope ends. It is the end of the bytes when a message is too long. */
function endOfWhole(bytes: Buffer, maxBytes: number): number {
  let end = 0
  for (;;) {
    const length = envelopeBytes(bytes, end)
    if (length > HEAD_BYTES + maxBytes) return bytes.length
    if (end + length > bytes.length) return end
    end += length
  }
}

/** The length of the envelope at an offset; that of its head until the head is whole. */
function envelopeBytes(bytes: Buffer, offset = 0): number {
  return bytes.length < offset + HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + bytes.readUInt32BE(offset + 1)
}
