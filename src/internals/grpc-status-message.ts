import { encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'

const FIELD = 'grpc-message'
/** Flags of an envelope of gRPC-Web that holds the trailer, not compressed. */
const TRAILER_FLAGS = 0x80
const ENVELOPE_HEAD_BYTES = 5
const FIELD_IN_TRAILER = /^grpc-message: (.*)\r\n/m
/** All bytes except those that the gRPC specification does not encode: space to tilde without the percent sign. */
const ENCODED = /[^\x20-\x24\x26-\x7e]/gu

/**
 * Wraps a handler so that `grpc-message` is percent-encoded as the gRPC specification says (PROTOCOL-HTTP2,
 * "Percent-Byte-Encoded"). Connect encodes more characters, by `encodeURIComponent`. grpc-js decodes by `decodeURI`
 * (https://github.com/grpc/grpc-node/issues/2209), and then shows `%3A` for a colon.
 *
 * Checked against @connectrpc/connect 2.1.2, which has no option for this. It sets the trailer of a gRPC response when the
 * body has ended, and yields the trailer of a gRPC-Web response as one part of the body.
 */
export function withGrpcStatusMessages(handler: UniversalHandler): UniversalHandler {
  const wrapped: UniversalHandler = Object.assign(async (request: Parameters<UniversalHandler>[0]) => {
    const response = await handler(request)
    const type = response.header?.get('content-type') ?? ''
    if (!type.startsWith('application/grpc')) return response
    if (!type.startsWith('application/grpc-web'))
      return Object.defineProperty({ ...response }, 'trailer', { get: () => encodeAgain(response.trailer) })
    return response.body === undefined ? response : { ...response, body: rewriteTrailer(response.body) }
  }, handler)
  return wrapped
}

/** Encodes the message of a trailer; one that is encoded as specified stays the same. */
function encodeAgain(trailer: Headers | undefined): Headers | undefined {
  const message = trailer?.get(FIELD)
  if (message) trailer?.set(FIELD, encodeStatusMessage(decodeURIComponent(message)))
  return trailer
}

async function* rewriteTrailer(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of body) yield part[0] === TRAILER_FLAGS ? encodeTrailerAgain(part) : part
}

function encodeTrailerAgain(envelope: Uint8Array): Uint8Array {
  const fields = Buffer.from(envelope.subarray(ENVELOPE_HEAD_BYTES)).toString('latin1')
  const encoded = fields.replace(
    FIELD_IN_TRAILER,
    (_, message: string) => `${FIELD}: ${encodeStatusMessage(decodeURIComponent(message))}\r\n`,
  )
  return encodeEnvelope(TRAILER_FLAGS, Buffer.from(encoded, 'latin1'))
}

/** Percent-encodes a status message as the gRPC specification says. */
export function encodeStatusMessage(message: string): string {
  return message.replace(ENCODED, encodeURIComponent)
}
