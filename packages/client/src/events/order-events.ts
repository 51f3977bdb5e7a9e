import type { Address, Hex } from 'viem'
import type { OrderEventType } from '../../../protocol/src/orders/event.js'
import { UnreadableAnswer } from '../calls/aggregator-error.js'
import {
  readAddress,
  readBytes32,
  readEnum,
  readInteger,
  readList,
  readMessage,
  readOptional,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import type { UnknownText, Untrusted } from '../calls/message-types.js'
import type { ServerSentEvent } from '../streams/sse-reader.js'

export type { OrderEventType } from '../../../protocol/src/orders/event.js'

/** The fields of all events. */
interface EventBase {
  readonly chainId: number
  readonly orderId: Hex
  readonly blockNumber: number
  /** Index of the event's log in its block. Undefined at an instance that does not send it, like the transaction and the time. */
  readonly logIndex: number | undefined
  readonly transactionHash: Hex | undefined
  /** Time of the block, Unix time in seconds. */
  readonly blockTime: number | undefined
  /** The stream's place after this event, an opaque text. As `after` of a filter, it resumes the stream from here. */
  readonly cursor: string
}

/** A deposit for an order. Amounts in the token's smallest unit. */
export interface Deposited extends EventBase {
  readonly type: 'Deposited'
  readonly user: Address
  readonly solver: Address
  readonly inputToken: Address
  readonly inputAmount: bigint
  readonly outputToken: Address
  readonly outputAmount: bigint
  /** Unix time in seconds. */
  readonly fillDeadline: number
}

/** The user has the output, the solver the input. */
export interface Settled extends EventBase {
  readonly type: 'Settled'
  /** Undefined at an instance that does not send it, like the solver. */
  readonly user: Address | undefined
  readonly solver: Address | undefined
}

/** The user has the input back, and a part of the solver's bond (in the bond token's smallest unit). */
export interface Refunded extends EventBase {
  readonly type: 'Refunded'
  readonly user: Address
  readonly inputAmount: bigint
  readonly bondSlashed: bigint
}

/** An event published before that a reorganisation removed: its block left the chain. */
export interface Reverted extends EventBase {
  readonly type: 'Reverted'
  readonly event: OrderEventType | UnknownText
}

/** An event of an order, in the order of its chain. */
export type OrderEvent = Deposited | Settled | Refunded | Reverted

/** The first message of each stream. */
export interface Connected {
  readonly type: 'connected'
  readonly supportedChains: readonly number[]
  readonly cursor: string
}

/** A block of the stream. */
export interface StreamMessage {
  /** The stream's place after it; undefined when the block has none. */
  readonly id: string | undefined
  /** Undefined for a heartbeat, and for a type that this version of the client does not know. */
  readonly event: Connected | OrderEvent | undefined
}

/** Reads a block of the stream. @throws UnreadableAnswer */
export function readStreamMessage({ id, data }: Pick<ServerSentEvent, 'id' | 'data'>): StreamMessage {
  return { id, event: data === '' ? undefined : readEvent(parseObject(data)) }
}

function parseObject(data: string): object {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // The error below covers it.
  }
  throw new UnreadableAnswer('an event that is not a JSON object')
}

function readEvent(answer: unknown): Connected | OrderEvent | undefined {
  const { type, cursor } = answer as { type?: unknown; cursor?: unknown }
  switch (type) {
    case 'connected': {
      const { supportedChains } = readMessage<'Connected'>(answer)
      return { type, supportedChains: readList(supportedChains).map(readInteger), cursor: readText(cursor) }
    }
    case 'Deposited': {
      const message = readMessage<'Deposited'>(answer)
      return {
        type,
        ...readBase(message, cursor),
        user: readAddress(message.user),
        solver: readAddress(message.solver),
        inputToken: readAddress(message.inputToken),
        inputAmount: readUint256(message.inputAmount),
        outputToken: readAddress(message.outputToken),
        outputAmount: readUint256(message.outputAmount),
        fillDeadline: readInteger(message.fillDeadline),
      }
    }
    case 'Settled': {
      const message = readMessage<'Settled'>(answer)
      return {
        type,
        ...readBase(message, cursor),
        user: readOptional(message.user, readAddress),
        solver: readOptional(message.solver, readAddress),
      }
    }
    case 'Refunded': {
      const message = readMessage<'Refunded'>(answer)
      return {
        type,
        ...readBase(message, cursor),
        user: readAddress(message.user),
        inputAmount: readUint256(message.inputAmount),
        bondSlashed: readUint256(message.bondSlashed),
      }
    }
    case 'Reverted': {
      const message = readMessage<'Reverted'>(answer)
      return { type, ...readBase(message, cursor), event: readEnum(message.event) }
    }
    default:
      return undefined
  }
}

function readBase(message: Untrusted<'Settled'>, cursor: unknown): EventBase {
  return {
    chainId: readInteger(message.chainId),
    orderId: readBytes32(message.orderId),
    blockNumber: readInteger(message.blockNumber),
    logIndex: readOptional(message.logIndex, readInteger),
    transactionHash: readOptional(message.transactionHash, readBytes32),
    blockTime: readOptional(message.blockTime, readInteger),
    cursor: readText(cursor),
  }
}
