import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol'

/**
 * Wraps the handler of a server-streaming method, so that other bytes follow the first message of its response. The
 * method's other messages, and the end of the stream, come after them. Connect has no way to send bytes that are already
 * encoded. Checked with @connectrpc/connect 2.1.2: the first part of a response's body is its first message or its end, and
 * the trailer exists only after the body was read.
 * @param continuation called after the first part; undefined when nothing follows
 */
export function withContinuation(
  handler: UniversalHandler,
  continuation: (request: UniversalServerRequest) => AsyncIterable<Uint8Array> | undefined,
): UniversalHandler {
  const wrapped = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await handler(request)
    const { body } = response
    if (body === undefined) return response
    const continued = { ...response, body: splice(body, () => continuation(request)) }
    return Object.defineProperty(continued, 'trailer', { get: () => response.trailer })
  }
  return Object.assign(wrapped, handler)
}

async function* splice(
  body: AsyncIterable<Uint8Array>,
  continuation: () => AsyncIterable<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const part of body) {
    yield part
    const following = isFirst ? continuation() : undefined
    isFirst = false
    if (following !== undefined) yield* following
  }
}
