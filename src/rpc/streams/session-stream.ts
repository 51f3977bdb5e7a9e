import { create, toBinary } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { type OpenSessionResponse, OpenSessionResponseSchema } from '../../../gen/aggregator/v1/session_pb.js'
import type { ServiceError } from '../../domain/errors.js'
import type { InstanceMessage, SessionConnection } from '../../sessions/messages.js'
import type { RpcRequest } from '../call-context.js'
import { toSessionEvent, toSessionMessage } from '../convert/convert-sessions.js'

/** The messages of a session to a solver. */
export interface SessionStream {
  readonly connection: SessionConnection
  /** Yields each message once those before have left the process. @throws ServiceError at the end */
  messages(): AsyncGenerator<OpenSessionResponse>
  /** Ends the messages without an error: the solver has left. */
  leave(): void
  isReady(): boolean
  hasEnded(): boolean
}

interface WaitingMessage {
  readonly message: OpenSessionResponse
  readonly bytes: number
}

/** How long a solver may take to read the end and to close its side. */
const END_TIMEOUT_MS = 5000
/** An empty message in a field that no version has. */
const UNKNOWN_FIELD = { no: 1000, wireType: WireType.LengthDelimited, data: new Uint8Array([0]) }

/** Builds the stream. */
export function createSessionStream(
  call: Pick<RpcRequest, 'unsentBytes' | 'keepOpen' | 'abandon' | 'recordError'>,
): SessionStream {
  const waiting: WaitingMessage[] = []
  let waitingBytes = 0
  let isReady = false
  let end: { readonly error: ServiceError | undefined } | undefined
  /** Wakes the generator; undefined while a message is written. */
  let wake: (() => void) | undefined
  let onDrained: (() => void)[] = []

  function push(message: OpenSessionResponse): void {
    const bytes = toBinary(OpenSessionResponseSchema, message).length
    waiting.push({ message, bytes })
    waitingBytes += bytes
    wake?.()
  }

  function send(message: InstanceMessage): void {
    if (end !== undefined) return
    if (message.type === 'events') for (const entry of message.entries) push(toSessionEvent(entry))
    else push(toSessionMessage(message))
    if (message.type !== 'ready') return
    isReady = true
    call.keepOpen()
  }

  function finish(error: ServiceError | undefined): void {
    if (end !== undefined) return
    end = { error }
    // Also when the solver goes on sending: what it sends is not read any more.
    setTimeout(call.abandon, END_TIMEOUT_MS).unref()
    resolveDrained()
    wake?.()
  }

  function resolveDrained(): void {
    const resolvers = onDrained
    onDrained = []
    for (const resolve of resolvers) resolve()
  }

  return {
    connection: {
      send,
      sendUnknown() {
        if (end === undefined)
          push(Object.assign(create(OpenSessionResponseSchema), { $unknown: [UNKNOWN_FIELD] }))
      },
      unsentBytes: () => waitingBytes + call.unsentBytes(),
      drained: () =>
        end !== undefined || (waitingBytes === 0 && wake !== undefined)
          ? Promise.resolve()
          : new Promise((resolve) => void onDrained.push(resolve)),
      end(error) {
        call.recordError(error)
        finish(error)
      },
    },
    async *messages() {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) {
          waitingBytes -= next.bytes
          yield next.message
          continue
        }
        resolveDrained()
        if (end?.error !== undefined) throw end.error
        if (end !== undefined) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
    },
    leave: () => finish(undefined),
    isReady: () => isReady,
    hasEnded: () => end !== undefined,
  }
}
