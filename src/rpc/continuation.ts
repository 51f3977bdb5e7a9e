import { type DescMessage, type MessageShape, toBinary, toJsonString } from '@bufbuild/protobuf'
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect'
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol'
import { limitTime } from '../concurrency/limit-time.js'
import { type NextPart, withContinuation } from '../internals/continue-stream.js'
import { messageEnvelope } from '../internals/message-envelope.js'

/** The formats of messages, in all protocols. */
export type Format = 'binary' | 'json'

/** Begins to send the messages after the first one. @param signal is aborted when the client leaves, or at its deadline */
type Begin = (signal: AbortSignal) => NextPart

const beginKey = createContextKey<Begin | undefined>(undefined)
/** Whether a call is only to write the error that ends another one. */
const failedKey = createContextKey(false)

/**
 * Lets the envelopes that `begin` makes follow the first message of a call, with which its method ends. They are the same in
 * gRPC, gRPC-Web and Connect. `withMessagesAfterFirst` sends them.
 */
export function continueAfterFirst(context: HandlerContext, begin: Begin): void {
  const timeoutMs = context.timeoutMs()
  context.values.set(beginKey, timeoutMs === undefined ? begin : withDeadline(begin, timeoutMs))
}

/** Wraps the handler of a method that may call `continueAfterFirst`. */
export function withMessagesAfterFirst(handler: UniversalHandler): UniversalHandler {
  return withContinuation(
    handler,
    ({ contextValues, signal }) => contextValues?.get(beginKey)?.(signal),
    (request, error) => failCall(handler, request, error),
  )
}

function withDeadline(begin: Begin, timeoutMs: number): Begin {
  return (signal) => {
    const time = limitTime(timeoutMs, signal)
    const next = begin(time.signal)
    return async () => {
      const part = await next()
      if (part instanceof Uint8Array) return part
      time.end()
      const isLate = time.signal.aborted && !signal.aborted
      return isLate ? new ConnectError('the operation timed out', Code.DeadlineExceeded) : part
    }
  }
}

/** Whether a call only writes an error: reading its messages throws it. */
export function isFailed(contextValues: ContextValues): boolean {
  return contextValues.get(failedKey)
}

/** Calls a handler with a body that fails, so that Connect writes the error in the protocol of the call. */
function failCall(
  handler: UniversalHandler,
  request: UniversalServerRequest,
  error: ConnectError,
): Promise<UniversalServerResponse> {
  const contextValues = (request.contextValues ?? createContextValues()).set(failedKey, true)
  const header = new Headers(request.header)
  header.delete('content-length')
  return handler({ ...request, header, contextValues, body: failing(error) })
}

// biome-ignore lint/correctness/useYield: the body has no bytes
async function* failing(error: ConnectError): AsyncGenerator<Uint8Array> {
  throw error
}

/** The format of the messages of a call. */
export function formatOf({ requestHeader }: HandlerContext): Format {
  return requestHeader.get('content-type')?.includes('json') ? 'json' : 'binary'
}

/** Makes the envelope of a message. */
export function toEnvelope<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  format: Format,
): Buffer {
  return messageEnvelope(
    format === 'json' ? Buffer.from(toJsonString(schema, message)) : toBinary(schema, message),
  )
}
