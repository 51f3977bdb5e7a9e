import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { ChainHealth } from '../../../gen/aggregator/v1/chain_health_pb.js'
import {
  EventType,
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from '../../../gen/aggregator/v1/event_pb.js'
import {
  type EventFieldKind,
  ORDER_EVENT_FIELDS,
  ORDER_EVENT_TYPES,
  type OrderEventType,
  type StreamEvent,
} from '../../../packages/protocol/src/orders/event.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { encodeOnce } from '../../events/encode-once.js'
import type { Entry } from '../../events/tail-buffer.js'
import { byNumber, toUpperCase } from './enum-words.js'

type EventInit = NonNullable<MessageInitShape<typeof StreamEventsResponseSchema>['event']>

/** The names of kinds of events in filters and messages. */
export const EVENT_TYPE_NAMES = byNumber([...ORDER_EVENT_TYPES, 'Reverted'], EventType)

/** The message of an entry of the log, which is made once for all subscribers. */
export const toEventMessage = encodeOnce(({ cursor, event }: Entry) =>
  create(StreamEventsResponseSchema, { cursor, event: toEvent(event) }),
)

/** The first message of every stream. */
export function toConnectedMessage(supportedChains: readonly number[], cursor: string): StreamEventsResponse {
  const value = { supportedChains: supportedChains.map(BigInt) }
  return create(StreamEventsResponseSchema, { cursor, event: { case: 'connected', value } })
}

/** The message that shows that the stream is alive. */
export function toHeartbeatMessage(cursor: string): StreamEventsResponse {
  return create(StreamEventsResponseSchema, { cursor, event: { case: 'heartbeat', value: {} } })
}

/** The message about the chains. */
export function toHealthMessage(cursor: string, chains: readonly ChainHealth[]): StreamEventsResponse {
  return create(StreamEventsResponseSchema, {
    cursor,
    event: { case: 'health', value: { chains: [...chains] } },
  })
}

function toEvent(event: StreamEvent): EventInit {
  const { orderId } = event
  const base = {
    chainId: BigInt(event.chainId),
    orderId,
    blockNumber: BigInt(event.blockNumber),
    logIndex: event.logIndex,
    transactionHash: event.transactionHash,
    blockTime: BigInt(event.blockTime),
  }
  if (event.type === 'Reverted')
    return { case: 'reverted', value: { ...base, event: EventType[toUpperCase(event.event)] } }
  const values: Readonly<Record<string, unknown>> = { ...event }
  const fields = Object.entries(ORDER_EVENT_FIELDS[event.type]).map(([name, kind]) => [
    name,
    toFieldValue(kind, values[name]),
  ])
  return { case: messageFieldOf(event.type), value: { ...base, ...Object.fromEntries(fields) } }
}

/** The field of the stream's message that has an event. */
function messageFieldOf<Type extends OrderEventType>(type: Type): Uncapitalize<Type> {
  return `${type[0]?.toLowerCase()}${type.slice(1)}` as Uncapitalize<Type>
}

/** `Deposited` and `Settled` have a solver on every contract. */
function toFieldValue(kind: EventFieldKind, value: unknown): unknown {
  if (kind === 'amount') return String(value)
  if (kind === 'seconds') return value
  return value === undefined ? '' : toCachedChecksumAddress(value as Address)
}
