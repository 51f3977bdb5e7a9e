import type { OrderEventType } from '../../../protocol/src/orders/event.js'
import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readAddress,
  readBytes32,
  readEnum,
  readInteger,
  readMessage,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import { parseJson } from '../calls/json.js'
import type { ServerSentEvent } from '../streams/sse-reader.js'

export type { OrderEventType } from '../../../protocol/src/orders/event.js'

const PLACE = {
  /** The stream's place after this event, an opaque text. As `after` of a filter, it resumes the stream from here. */
  cursor: readText,
}

/** The fields of all events. */
const BASE = {
  ...PLACE,
  chainId: readInteger,
  orderId: readBytes32,
  blockNumber: readInteger,
  /** Index of the event's log in its block. Undefined at an instance that does not send it, like the transaction and the time. */
  logIndex: optional(readInteger),
  transactionHash: optional(readBytes32),
  /** Time of the block, Unix time in seconds. */
  blockTime: optional(readInteger),
}

/** A deposit for an order. Amounts in the token's smallest unit. */
export type Deposited = EventOf<'Deposited'>
const DEPOSITED = {
  ...BASE,
  user: readAddress,
  solver: readAddress,
  inputToken: readAddress,
  inputAmount: readUint256,
  outputToken: readAddress,
  outputAmount: readUint256,
  /** Unix time in seconds. */
  fillDeadline: readInteger,
} satisfies Readers<'Deposited'>

/** The user has the output, the solver the input. */
export type Settled = EventOf<'Settled'>
const SETTLED = {
  ...BASE,
  /** Undefined at an instance that does not send it, like the solver. */
  user: optional(readAddress),
  solver: optional(readAddress),
} satisfies Readers<'Settled'>

/** The user has the input back, and a part of the solver's bond (in the bond token's smallest unit). */
export type Refunded = EventOf<'Refunded'>
const REFUNDED = {
  ...BASE,
  user: readAddress,
  inputAmount: readUint256,
  bondSlashed: readUint256,
} satisfies Readers<'Refunded'>

/** An event published before that a reorganisation removed: its block left the chain. */
export type Reverted = EventOf<'Reverted'>
const REVERTED = { ...BASE, event: readEnum<OrderEventType> } satisfies Readers<'Reverted'>

/** The first message of each stream. */
export type Connected = EventOf<'connected'>
const CONNECTED = { ...PLACE, supportedChains: listOf(readInteger) } satisfies Readers<'Connected'>

/** An event of an order, in the order of its chain. */
export type OrderEvent = Deposited | Settled | Refunded | Reverted

const EVENTS = {
  Deposited: DEPOSITED,
  Settled: SETTLED,
  Refunded: REFUNDED,
  Reverted: REVERTED,
  connected: CONNECTED,
}

type EventOf<Type extends keyof typeof EVENTS> = { readonly type: Type } & ReadBy<(typeof EVENTS)[Type]>

/** A block of the stream. */
export interface StreamMessage {
  /** The stream's place after it; undefined when the block has none. */
  readonly id: string | undefined
  /** Undefined for a heartbeat, and for a type that this version of the client does not know. */
  readonly event: Connected | OrderEvent | undefined
}

/** Reads a block of the stream. @throws UnreadableAnswer */
export function readStreamMessage({ id, data }: Pick<ServerSentEvent, 'id' | 'data'>): StreamMessage {
  return { id, event: data === '' ? undefined : readEvent(parseJson(data)) }
}

function readEvent(answer: unknown): StreamMessage['event'] {
  const { type } = readMessage(answer) as { readonly type?: keyof typeof EVENTS }
  if (!type || !Object.hasOwn(EVENTS, type)) return undefined
  return { type, ...messageReader(EVENTS[type])(answer) } as StreamMessage['event']
}
