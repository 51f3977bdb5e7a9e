import type { ConnectError, ConnectRouter } from '@connectrpc/connect'
import { encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'
import {
  codeToHttpStatus,
  createEndStreamSerialization,
  endStreamFlag,
  errorToJsonBytes,
} from '@connectrpc/connect/protocol-connect'
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc'
import { trailerFlag, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web'

/**
 * Replaces each handler of a Connect router. Interceptors cannot do the same: they do not see the bytes of a message, nor
 * calls whose message cannot be read. The list `handlers` and its functions are public types without a documented use.
 * Checked with @connectrpc/connect 2.1.2.
 */
export function wrapHandlers(
  router: ConnectRouter,
  wrap: (handler: UniversalHandler) => UniversalHandler,
): void {
  router.handlers.splice(0, Infinity, ...router.handlers.map(wrap))
}

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
function encodeStatusMessage(message: string): string {
  return message.replace(ENCODED, encodeURIComponent)
}

/** The whole response to a call that has not reached Connect. */
interface RpcRefusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly trailers: Readonly<Record<string, string>>
}

/** The types of bodies that are envelopes: gRPC, gRPC-Web, and the streams of Connect. */
const ENVELOPES = /^application\/(grpc-web|grpc|connect)(\+proto|\+json)?(?=$|;)/
const OK = 200

/**
 * Writes an error in the form of the call's protocol: Connect for one message, Connect for streams, gRPC or gRPC-Web.
 * Connect writes errors only in its handlers, which read the body of the call first. It exports these functions and calls
 * them internal. Checked with @connectrpc/connect 2.1.2.
 * @param contentType of the call; another protocol's, or none, gets the form of Connect for one message
 */
export function rpcRefusal(contentType: string, error: ConnectError): RpcRefusal {
  const [type = '', protocol] = ENVELOPES.exec(contentType.toLowerCase()) ?? []
  switch (protocol) {
    case 'grpc': {
      const status = Object.fromEntries(setTrailerStatus(new Headers(), error))
      return {
        ...enveloped(type),
        trailers: { ...status, 'grpc-message': encodeStatusMessage(error.rawMessage) },
      }
    }
    case 'grpc-web':
      return enveloped(
        type,
        encodeEnvelope(trailerFlag, trailerSerialize(setTrailerStatus(new Headers(), error))),
      )
    case 'connect': {
      const end = createEndStreamSerialization(undefined).serialize({ metadata: new Headers(), error })
      return enveloped(type, encodeEnvelope(endStreamFlag, end))
    }
    default:
      return {
        status: codeToHttpStatus(error.code),
        headers: { 'content-type': 'application/json' },
        body: errorToJsonBytes(error, undefined),
        trailers: {},
      }
  }
}

function enveloped(type: string, body = new Uint8Array()): RpcRefusal {
  return { status: OK, headers: { 'content-type': type }, body, trailers: {} }
}
