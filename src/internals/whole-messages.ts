import { type DescMessage, fromBinary } from '@bufbuild/protobuf'
import { Code, ConnectError } from '@connectrpc/connect'

const HEAD_BYTES = 5
/** Most chunks of one message: 64 KiB in packets are some 50. Each takes time of its own. */
const MAX_CHUNKS = 1024

/**
 * Gathers the chunks of a body so that each that it gives holds whole envelopes, or the whole body. Connect adds up all
 * chunks that it has for each new one: a message of 64 KiB in chunks of one byte kept it busy for seconds. Checked with
 * @connectrpc/connect 2.1.2.
 * @param input the type of messages in Protobuf; undefined for JSON
 * @throws ConnectError RESOURCE_EXHAUSTED when a message is longer than `maxBytes`, or has too many chunks; INVALID_ARGUMENT for bytes
 * that are no message, which are INTERNAL for Connect: proxies take a server that answers so for ill
 */
export async function* wholeMessages(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  hasEnvelopes: boolean,
  input?: DescMessage,
): AsyncGenerator<Uint8Array> {
  let gathered: Buffer = Buffer.alloc(0)
  let length = 0
  let chunks = 0
  let wanted = HEAD_BYTES
  for await (const chunk of body) {
    if (++chunks > MAX_CHUNKS) throw refusal('has too many chunks')
    if (length === 0) gathered = viewOf(chunk)
    else {
      if (length + chunk.length > gathered.length) gathered = enlarged(gathered, length, chunk.length)
      gathered.set(chunk, length)
    }
    length += chunk.length
    if (!hasEnvelopes) {
      if (length > maxBytes) throw refusal(`is longer than ${maxBytes} bytes`)
      continue
    }
    if (length < wanted) continue
    const bytes = gathered.subarray(0, length)
    const end = endOfWhole(bytes, maxBytes)
    if (end > 0) {
      if (input !== undefined) assertReadable(bytes.subarray(0, end), input)
      yield bytes.subarray(0, end)
      chunks = 0
    }
    gathered = Buffer.from(bytes.subarray(end))
    length = gathered.length
    wanted = envelopeBytes(gathered)
  }
  const rest = gathered.subarray(0, length)
  if (!hasEnvelopes && input !== undefined) assertMessage(rest, input)
  if (length > 0) yield rest
}

/** Checks the messages of whole envelopes. Connect refuses those with flags. */
function assertReadable(bytes: Buffer, input: DescMessage): void {
  for (let start = 0; start < bytes.length; start += envelopeBytes(bytes, start)) {
    const message = bytes.subarray(start + HEAD_BYTES, start + envelopeBytes(bytes, start))
    if (bytes[start] === 0) assertMessage(message, input)
  }
}

function assertMessage(bytes: Buffer, input: DescMessage): void {
  try {
    fromBinary(input, bytes, { readUnknownFields: false })
  } catch {
    throw new ConnectError('the body is no message of this method', Code.InvalidArgument)
  }
}

function refusal(reason: string): ConnectError {
  return new ConnectError(`the message ${reason}`, Code.ResourceExhausted)
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

/** Where the last whole envelope ends. */
function endOfWhole(bytes: Buffer, maxBytes: number): number {
  let end = 0
  for (;;) {
    const length = envelopeBytes(bytes, end)
    if (length > HEAD_BYTES + maxBytes) throw refusal(`is longer than ${maxBytes} bytes`)
    if (end + length > bytes.length) return end
    end += length
  }
}

/** The length of the envelope at an offset; that of its head until the head is whole. */
function envelopeBytes(bytes: Buffer, offset = 0): number {
  return bytes.length < offset + HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + bytes.readUInt32BE(offset + 1)
}
