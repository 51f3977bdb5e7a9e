import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  EventService,
  type StreamEventsRequest,
  type StreamEventsResponse,
} from '../../../gen/aggregator/v1/event_pb.js'
import {
  assertSupported,
  type FieldViolation,
  invalidArgument,
  type ServiceError,
  toServiceError,
} from '../../../packages/protocol/src/errors.js'
import type { EventFilter } from '../../../packages/protocol/src/orders/event.js'
import type { CallContext, Protocol } from '../../clients/call.js'
import type { EventLog } from '../../events/event-log.js'
import type { Subscription } from '../../events/subscriber.js'
import type { Batch } from '../../events/tail-buffer.js'
import { requestKey, toCallContext } from '../call-context.js'
import {
  EVENT_TYPE_NAMES,
  toConnectedMessage,
  toEventMessage,
  toHealthMessage,
  toHeartbeatMessage,
} from '../convert/convert-events.js'
import { Fields } from '../fields.js'
import type { LimitedCall } from '../limits/rate-limits.js'
import type { Outcome } from '../method.js'
import { createOutcomes } from '../middleware.js'
import type { ReadChainHealth } from '../services/chain-service.js'
import type { StreamContext } from './context.js'

/** How long a client may take to read the end of its stream before the server cuts its connection. */
export const END_TIMEOUT_MS = 20_000

/** The server-streaming method, for all transports. */
export type EventStreams = ReturnType<typeof createEventStreams>

/** What a stream needs of the call that opens it. */
type StreamCall = Pick<CallContext, 'protocol' | 'requestId' | 'client'>

/** One client's stream. */
export interface EventStream {
  /** The events. Use `next` and `close` of the stream instead of the subscription's. */
  readonly subscription: Omit<Subscription, 'next' | 'close'>
  /** The next events, as those of the subscription. The result is also empty when the message about the chains is due. */
  next(): Promise<Batch>
  /** The message about the chains when it is due, to send before `next` is called; undefined otherwise. */
  dueHealth(): StreamEventsResponse | undefined
  /**
   * Ends the stream and counts it; a second call does nothing.
   * @param thrown the error that ended it; undefined when the client did
   * @returns the error for the client, if there is one
   */
  close(thrown?: unknown): ServiceError | undefined
}

/** Time from one message about the chains to the next one, at most while the stream is read. */
const HEALTH_INTERVAL_MS = 15_000
/** The most values in all filters of a stream together. They stay in memory while it is open. */
const MAX_FILTER_VALUES = 256
const TOO_MANY_VALUES = `is one of too many: all filters of a stream may have at most ${MAX_FILTER_VALUES} values`

/** Builds the method. */
export function createEventStreams(
  { supportedChains, rateLimits, slots, metrics, clock, log }: StreamContext,
  eventLog: EventLog,
  readChainHealth: ReadChainHealth,
) {
  const desc = EventService.method.streamEvents

  function subscribe(
    request: StreamEventsRequest,
    { client }: StreamCall,
    malformed: readonly FieldViolation[],
  ): Subscription {
    for (const chainId of request.chainId) assertSupported(Number(chainId), supportedChains)
    const fields = new Fields(malformed)
    const filter = readFilter(request, fields)
    if (fields.violations.length > 0) throw invalidArgument(fields.violations)
    let subscription: Subscription | undefined
    const releaseSlot = slots.take(client, (error) => subscription?.close(error))
    try {
      subscription = eventLog.subscribe(request.after, filter, { client, onEnd: releaseSlot })
      return subscription
    } catch (error) {
      releaseSlot()
      throw error
    }
  }

  const { count, reject } = createOutcomes(desc, { metrics, log })

  function toStream(subscription: Subscription, call: StreamCall, hasHealth: boolean): EventStream {
    const { protocol } = call
    let isOpen = true
    let healthDueAt = hasHealth ? 0 : Number.POSITIVE_INFINITY
    metrics.streamClients.inc({ protocol })
    return {
      subscription,
      next: () => subscription.next(healthDueAt),
      dueHealth() {
        const now = clock.monotonic()
        if (now < healthDueAt) return undefined
        healthDueAt = now + HEALTH_INTERVAL_MS
        return toHealthMessage(subscription.cursor(), readChainHealth())
      },
      close(thrown) {
        if (!isOpen) return undefined
        isOpen = false
        subscription.close()
        metrics.streamClients.dec({ protocol })
        if (thrown !== undefined) return reject(call, thrown)
        count(protocol, 'OK')
        return undefined
      },
    }
  }

  return {
    desc,
    supportedChains,
    async checkLimits(call: LimitedCall): Promise<void> {
      await rateLimits.consume('streams', call)
    },
    count(protocol: Protocol, outcome: Outcome): void {
      // The metric of the limits has these.
      if (outcome !== 'RATE_LIMITED') count(protocol, outcome)
    },
    /**
     * Waits for the database when `open` needs it: another replica has sent the cursor, or the cursor is old.
     * @returns undefined when there is nothing to wait for; else a promise that throws ServiceError DATABASE_UNAVAILABLE
     */
    waitForCursor: eventLog.waitForCursor,
    /**
     * Opens a stream.
     * @param malformed fields that could not be read into the message
     * @throws ServiceError CHAIN_NOT_SUPPORTED, INVALID_ARGUMENT, CURSOR_UNKNOWN, STREAM_LIMIT_REACHED or SHUTTING_DOWN
     */
    open(
      request: StreamEventsRequest,
      call: StreamCall,
      malformed: readonly FieldViolation[] = [],
    ): EventStream {
      try {
        return toStream(subscribe(request, call, malformed), call, request.health)
      } catch (thrown) {
        throw reject(call, thrown)
      }
    },
  }
}

function readFilter(request: StreamEventsRequest, fields: Fields): EventFilter {
  limitValues(request, fields)
  const types = request.type.map((type) => fields.choice('type', type, EVENT_TYPE_NAMES) ?? 'Deposited')
  return {
    chainIds: setOf(request.chainId.map(Number)),
    types: setOf(types),
    orderIds: setOf(request.orderId.map((text) => fields.bytes32('orderId', text))),
    users: setOf(request.user.map((text) => fields.address('user', text))),
    solvers: setOf(request.solver.map((text) => fields.address('solver', text))),
  }
}

/** Records the filter with which the stream has too many values. */
function limitValues(request: StreamEventsRequest, fields: Fields): void {
  let count = 0
  for (const field of ['chainId', 'type', 'orderId', 'user', 'solver'] as const) {
    count += request[field].length
    if (count <= MAX_FILTER_VALUES) continue
    fields.addViolation(field, TOO_MANY_VALUES)
    return
  }
}

const NOTHING: ReadonlySet<never> = new Set()

/** Most filters are empty, and share one set. */
function setOf<T>(values: readonly T[]): ReadonlySet<T> {
  return values.length === 0 ? NOTHING : new Set(values)
}

/** Builds Connect's handler of StreamEvents. Connect asks for a message when the client has taken those before. */
export function toStreamHandler(streams: EventStreams) {
  return async function* (
    request: StreamEventsRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamEventsResponse> {
    const { abandon, recordReached } = context.values.get(requestKey)
    recordReached()
    const { protocol, requestId, client } = toCallContext(context)
    await streams.waitForCursor(request.after, client)
    const stream = streams.open(request, { protocol, requestId, client })
    const { subscription } = stream
    let endTimer: NodeJS.Timeout | undefined
    subscription.ended.addEventListener('abort', () => {
      endTimer = setTimeout(abandon, END_TIMEOUT_MS).unref()
    })
    // A generator is not continued, so that no `finally` runs, when its client leaves while a message waits for it.
    const leave = () => {
      stream.close()
      clearTimeout(endTimer)
    }
    context.signal.addEventListener('abort', leave)
    if (context.signal.aborted) leave()
    const next = () =>
      stream.next().catch((thrown) => {
        clearTimeout(endTimer)
        if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
        throw stream.close(thrown) ?? toServiceError(thrown)
      })
    yield toConnectedMessage(streams.supportedChains, subscription.cursor())
    for (;;) {
      const health = stream.dueHealth()
      if (health !== undefined) yield health
      const batch = await next()
      for (const entry of batch) yield toEventMessage(entry)
      if (batch.length === 0) yield stream.dueHealth() ?? toHeartbeatMessage(subscription.cursor())
    }
  }
}
