import type { ConnectError } from '@connectrpc/connect'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import {
  codeToHttpStatus,
  createEndStreamSerialization,
  endStreamFlag,
  errorToJsonBytes,
} from '@connectrpc/connect/protocol-connect'
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc'
import { trailerFlag, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web'
import { encodeStatusMessage } from './grpc-status-message.js'

/** The whole response to a call that has not reached Connect. */
export interface RpcRefusal {
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
