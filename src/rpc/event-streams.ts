import { EventService, type StreamEventsRequest } from '../../gen/aggregator/v1/event_pb.js'
import {
  type FieldViolation,
  invalidArgument,
  type Reason,
  ServiceError,
  toServiceError,
} from '../domain/errors.js'
import type { EventFilter } from '../domain/event.js'
import type { EventLog } from '../events/event-log.js'
import type { Subscription } from '../events/hub.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { EVENT_TYPE_NAMES } from './convert-events.js'
import { Fields } from './fields.js'
import type { Protocol } from './method.js'
import type { Client, RateLimits } from './rate-limits.js'

/** How long a client may take to read that its stream has ended, before its connection is cut. */
export const FAREWELL_MS = 20_000

/** How a stream reached the service. */
export type StreamProtocol = Exclude<Protocol, 'rest'> | 'websocket' | 'sse'

/** The one server-streaming method: what all of its faces share. */
export interface EventStreams {
  readonly desc: typeof EventService.method.streamEvents
  readonly supportedChains: readonly number[]
  /** Counts a request to open a stream. @throws ServiceError RATE_LIMITED */
  admit(client: Client): Promise<void>
  /**
   * Opens a stream.
   * @param unreadable fields that could not be read into the message
   * @throws ServiceError CHAIN_NOT_SUPPORTED, INVALID_ARGUMENT, CURSOR_UNKNOWN, STREAM_LIMIT_REACHED or SHUTTING_DOWN
   */
  open(
    request: StreamEventsRequest,
    caller: StreamCaller,
    unreadable?: readonly FieldViolation[],
  ): EventStream
}

interface StreamCaller {
  readonly protocol: StreamProtocol
  readonly requestId: string
}

/** One client's stream. */
export interface EventStream extends Pick<Subscription, 'cursor' | 'next' | 'ended'> {
  /**
   * Ends the stream and counts it; nothing happens the second time.
   * @param thrown what ended it, when it was not the client
   * @returns the error for the client, if there is one
   */
  close(thrown?: unknown): ServiceError | undefined
}

interface EventStreamsOptions {
  readonly eventLog: Pick<EventLog, 'subscribe'>
  readonly supportedChains: readonly number[]
  readonly rateLimits: RateLimits
  readonly metrics: Metrics
  readonly log: Logger
}

/** Builds the method. */
export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { eventLog, supportedChains, rateLimits, metrics, log } = options
  const desc = EventService.method.streamEvents
  const name = `${desc.parent.typeName}/${desc.name}`

  function subscribe(request: StreamEventsRequest, unreadable: readonly FieldViolation[]): Subscription {
    if (request.chainId.some((chainId) => !supportedChains.includes(Number(chainId))))
      throw new ServiceError('CHAIN_NOT_SUPPORTED', 'This chain is not supported here.')
    const fields = new Fields(unreadable)
    const filter = readFilter(request, fields)
    if (fields.violations.length > 0) throw invalidArgument(fields.violations)
    return eventLog.subscribe(request.after, filter)
  }

  return {
    desc,
    supportedChains,
    admit: (client) => rateLimits.consume('global', client),

    open(request, { protocol, requestId }, unreadable = []) {
      const count = (reason: Reason | 'OK') => metrics.requests.inc({ method: name, protocol, reason })
      const refuse = (thrown: unknown): ServiceError => {
        const error = toServiceError(thrown)
        if (error.cause !== undefined) log.error({ requestId, method: name, err: error.cause }, error.message)
        count(error.reason)
        return error
      }
      let subscription: Subscription
      try {
        subscription = subscribe(request, unreadable)
      } catch (thrown) {
        throw refuse(thrown)
      }

      let isOpen = true
      metrics.streamClients.inc({ protocol })
      return {
        cursor: () => subscription.cursor(),
        next: () => subscription.next(),
        ended: subscription.ended,
        close(thrown) {
          if (!isOpen) return undefined
          isOpen = false
          subscription.close()
          metrics.streamClients.dec({ protocol })
          if (thrown !== undefined) return refuse(thrown)
          count('OK')
          return undefined
        },
      }
    },
  }
}

function readFilter(request: StreamEventsRequest, fields: Fields): EventFilter {
  const types = request.type.map((type) => fields.choice('type', type, EVENT_TYPE_NAMES) ?? 'Deposited')
  return {
    chainIds: new Set(request.chainId.map(Number)),
    types: new Set(types),
    orderIds: new Set(request.orderId.map((text) => fields.bytes32('orderId', text))),
    users: new Set(request.user.map((text) => fields.address('user', text))),
    solvers: new Set(request.solver.map((text) => fields.address('solver', text))),
  }
}
