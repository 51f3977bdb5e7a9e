import { createContextKey } from '@connectrpc/connect'
import {
  createAsyncIterable,
  encodeEnvelope,
  readAllBytes,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from '@connectrpc/connect/protocol'

/** How far a call has come: Connect reads its message before any code of ours sees it. */
export const stageKey = createContextKey<'arriving' | 'reached' | 'unreadable'>('arriving')

/** Codes that Connect gives to messages that it cannot read: invalid_argument, resource_exhausted, internal. */
const GRPC_STATUSES = ['3', '8', '13']
const CONNECT_STATUSES = [400, 429, 500]
const GRPC_WEB_STATUS = /grpc-status: ?(\d+)/i

/**
 * Wraps the handler of a unary method so that a call whose message cannot be read comes to the method after all,
 * marked `unreadable`, and is refused there: counted, limited and answered like any other bad input. Connect by
 * itself calls broken protobuf an internal error.
 */
export function withUnreadableCalls(handler: UniversalHandler): UniversalHandler {
  const answer = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await readWhole(await handler(request))
    if (!isUnreadable(request, response)) return response
    request.contextValues?.set(stageKey, 'unreadable')
    return handler({ ...request, header: headerOfEmpty(request), body: emptyBody(request) })
  }
  return Object.assign(answer, handler)
}

interface WholeResponse extends UniversalServerResponse {
  readonly bytes: Uint8Array
}

/** The trailer, and with it the outcome, is there only when the body has been read. */
async function readWhole(response: UniversalServerResponse): Promise<WholeResponse> {
  const bytes =
    response.body === undefined
      ? new Uint8Array()
      : await readAllBytes(response.body, Number.MAX_SAFE_INTEGER)
  return { ...response, bytes, body: response.body && createAsyncIterable([bytes]) }
}

function isUnreadable({ contextValues }: UniversalServerRequest, response: WholeResponse): boolean {
  if (contextValues?.get(stageKey) !== 'arriving') return false
  const { status, trailer, bytes } = response
  if (status !== 200) return CONNECT_STATUSES.includes(status)
  const grpcStatus =
    trailer?.get('grpc-status') ?? GRPC_WEB_STATUS.exec(Buffer.from(bytes).toString('latin1'))?.[1]
  return GRPC_STATUSES.includes(grpcStatus ?? '')
}

function headerOfEmpty({ header }: UniversalServerRequest): Headers {
  const copy = new Headers(header)
  for (const name of ['content-length', 'content-encoding', 'grpc-encoding']) copy.delete(name)
  return copy
}

/** A message without fields, in the encoding of the one that could not be read. */
function emptyBody({ header }: UniversalServerRequest): AsyncIterable<Uint8Array> {
  const contentType = header.get('content-type') ?? ''
  const message = contentType.includes('json') ? new TextEncoder().encode('{}') : new Uint8Array()
  return createAsyncIterable([contentType.includes('grpc') ? encodeEnvelope(0, message) : message])
}
