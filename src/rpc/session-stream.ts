import { create } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { type OpenSessionResponse, OpenSessionResponseSchema } from '../../gen/aggregator/v1/session_pb.js'
import type { ServiceError } from '../domain/errors.js'
import type { NextPart } from '../internals/continue-stream.js'
import type { InstanceMessage, SessionConnection } from '../sessions/messages.js'
import { toConnectError } from './connect-errors.js'
import { type Format, toEnvelope } from './continuation.js'
import { toSessionEvent, toSessionMessage } from './convert-sessions.js'

/** What the HTTP server knows of the call of a session. */
interface SessionCall {
  unsentBytes(): number
  keepOpen(): void
  abandon(): void
  recordError(error: ServiceError): void
}

/** The messages of a session to a solver, as the body of a response. */
export interface SessionStream {
  readonly connection: SessionConnection
  /** The first message, which Connect sends. */
  takeChallenge(): OpenSessionResponse
  /** The bytes of all messages that wait, once those before have left the process; at the end, the error. */
  readonly next: NextPart
  /** Ends the body without an error: the solver has left. */
  leave(): void
  isReady(): boolean
  hasEnded(): boolean
}

/** How long a solver may take to read the end and to close its side. */
const END_TIMEOUT_MS = 5000
/** An empty message in a field that no version has. */
const UNKNOWN_FIELD = { no: 1000, wireType: WireType.LengthDelimited, data: new Uint8Array([0]) }

/** Builds the stream. Messages of one turn of the event loop are one part of the body. */
export function createSessionStream(format: Format, call: SessionCall): SessionStream {
  let challenge: OpenSessionResponse | undefined
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let isReady = false
  let end: { readonly error: ServiceError | undefined } | undefined
  /** Set while messages of this turn may follow. */
  let isCollecting = false
  /** Wakes the reader of the body; undefined while it writes. */
  let wake: (() => void) | undefined
  let onDrained: (() => void)[] = []

  function push(message: OpenSessionResponse): void {
    const envelope = toEnvelope(OpenSessionResponseSchema, message, format)
    waiting.push(envelope)
    waitingBytes += envelope.length
    if (isCollecting) return
    isCollecting = true
    setImmediate(() => {
      isCollecting = false
      wake?.()
    })
  }

  function send(message: InstanceMessage): void {
    if (end !== undefined) return
    if (message.type === 'events') for (const entry of message.entries) push(toSessionEvent(entry))
    else if (message.type === 'challenge') challenge = toSessionMessage(message)
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
    if (!isCollecting) wake?.()
  }

  function resolveDrained(): void {
    const resolvers = onDrained
    onDrained = []
    for (const resolve of resolvers) resolve()
  }

  function takeWaiting(): Buffer {
    const part = waiting.length === 1 && waiting[0] !== undefined ? waiting[0] : Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    return part
  }

  const stream: SessionStream = {
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
    takeChallenge() {
      if (challenge === undefined) throw new Error('the session has no challenge')
      return challenge
    },
    async next() {
      if (waiting.length === 0) resolveDrained()
      while (isCollecting || (waiting.length === 0 && end === undefined))
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      wake = undefined
      if (waiting.length > 0) return takeWaiting()
      return end?.error && toConnectError(end.error)
    },
    leave: () => finish(undefined),
    isReady: () => isReady,
    hasEnded: () => end !== undefined,
  }
  return stream
}
