import type { ConnectError } from '@connectrpc/connect'
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol'

/** Resolves with the next part of a body; at its end, with the error that ends it, or with undefined. */
export type NextPart = () => Promise<Uint8Array | ConnectError | undefined>

type Fail = (request: UniversalServerRequest, error: ConnectError) => Promise<UniversalServerResponse>

/**
 * Wraps the handler of a server-streaming method, whose implementation ends after its first message: other bytes follow that
 * message, then the end of the stream. Connect has no way to send bytes that are already encoded, and its generators would
 * keep 25 KB for each stream that waits. Checked with @connectrpc/connect 2.1.2: the first part of a response's body is its
 * first message, and all that follows is its end.
 * @param continuation called after the first message; undefined when nothing follows
 * @param fail makes a response that has only an end, with an error
 */
export function withContinuation(
  handler: UniversalHandler,
  continuation: (request: UniversalServerRequest) => NextPart | undefined,
  fail: Fail,
): UniversalHandler {
  const wrapped = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await handler(request)
    const next = continuation(request)
    if (next === undefined || response.body === undefined) return response
    // An idle stream keeps only what another call needs.
    const call = { ...request, body: null, contextValues: undefined }
    return continued(response, await readAll(response.body), next, (error) => fail(call, error))
  }
  return Object.assign(wrapped, handler)
}

/** It does not keep the body that Connect made. */
function continued(
  { status, header, trailer }: UniversalServerResponse,
  parts: Uint8Array[],
  next: NextPart,
  fail: (error: ConnectError) => Promise<UniversalServerResponse>,
): UniversalServerResponse {
  const response: UniversalServerResponse = {
    status,
    header,
    trailer,
    body: new ContinuedBody(parts, next, async (error) => {
      const failed = await fail(error)
      response.trailer = failed.trailer
      return failed.body === undefined ? [] : readAll(failed.body)
    }),
  }
  return response
}

const NOTHING = new Uint8Array()

/**
 * The first message, the parts that follow it, and the end. It is no generator, and empties its last result when it is asked
 * for the next one: Connect keeps both while a stream waits.
 */
class ContinuedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #nextPart: NextPart
  readonly #endWith: (error: ConnectError) => Promise<Uint8Array[]>
  readonly #end: readonly Uint8Array[]
  /** What is to be sent before the next part. */
  #ready: Uint8Array[]
  #hasEnded = false
  #result: { value: Uint8Array; done: false } = { value: NOTHING, done: false }

  /** @param parts the first message, then the end */
  constructor(
    [first, ...end]: readonly Uint8Array[],
    nextPart: NextPart,
    endWith: (error: ConnectError) => Promise<Uint8Array[]>,
  ) {
    this.#ready = first === undefined ? [] : [first]
    this.#end = end
    this.#nextPart = nextPart
    this.#endWith = endWith
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#result.value = NOTHING
    if (this.#ready.length > 0 || this.#hasEnded) return Promise.resolve(this.#takeReady())
    return this.#nextPart().then((part) => this.#take(part))
  }

  async #take(part: Awaited<ReturnType<NextPart>>): Promise<IteratorResult<Uint8Array, undefined>> {
    if (part instanceof Uint8Array) this.#ready = [part]
    else {
      this.#ready = part === undefined ? [...this.#end] : await this.#endWith(part)
      this.#hasEnded = true
    }
    return this.#takeReady()
  }

  #takeReady(): IteratorResult<Uint8Array, undefined> {
    const value = this.#ready.shift()
    if (value === undefined) return { value, done: true }
    this.#result = { value, done: false }
    return this.#result
  }
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return parts
}
