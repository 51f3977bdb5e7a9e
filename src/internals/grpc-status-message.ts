import type { UniversalHandler } from '@connectrpc/connect/protocol'

const FIELD = 'grpc-message'
/** All bytes except those that the gRPC specification does not encode: space to tilde without the percent sign. */
const ENCODED = /[^\x20-\x24\x26-\x7e]/gu

/**
 * Wraps a handler so that `grpc-message` is percent-encoded as the gRPC specification says (PROTOCOL-HTTP2,
 * "Percent-Byte-Encoded"). Connect encodes more characters, by `encodeURIComponent`. grpc-js decodes by `decodeURI`
 * (https://github.com/grpc/grpc-node/issues/2209), and then shows `%3A` for a colon. Clients of gRPC-Web decode all.
 *
 * Checked against @connectrpc/connect 2.1.2, which has no option for this. It sets the trailer of a gRPC response when the
 * body has ended.
 */
export function withGrpcStatusMessages(handler: UniversalHandler): UniversalHandler {
  const wrapped: UniversalHandler = Object.assign(async (request: Parameters<UniversalHandler>[0]) => {
    const response = await handler(request)
    const type = response.header?.get('content-type') ?? ''
    if (!/^application\/grpc(?!-web)/.test(type)) return response
    return Object.defineProperty({ ...response }, 'trailer', { get: () => encodeAgain(response.trailer) })
  }, handler)
  return wrapped
}

/** Encodes the message of a trailer; one that is encoded as specified stays the same. */
function encodeAgain(trailer: Headers | undefined): Headers | undefined {
  const message = trailer?.get(FIELD)
  if (message) trailer?.set(FIELD, encodeStatusMessage(decodeURIComponent(message)))
  return trailer
}

/** Percent-encodes a status message as the gRPC specification says. */
export function encodeStatusMessage(message: string): string {
  return message.replace(ENCODED, encodeURIComponent)
}
