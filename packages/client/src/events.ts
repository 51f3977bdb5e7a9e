import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Address, Hex } from 'viem'
import {
  EventType,
  type StreamEventsRequestSchema,
  type StreamEventsResponse,
} from '../../../gen/aggregator/v1/event_pb.js'
import type { OrderEventType } from '../../../src/domain/event.js'
import { readAddress, readBytes32, readChoice, readInteger, readUint256 } from './answer-fields.js'

export type { OrderEventType } from '../../../src/domain/event.js'

/** What all events say. */
interface EventBase {
  readonly chainId: number
  readonly orderId: Hex
  readonly blockNumber: number
  /** The stream's place after this event: `after` of the filter that goes on from here. An opaque text. */
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
}

/** The user has the input back, and a part of the solver's bond (in the bond token's smallest unit). */
export interface Refunded extends EventBase {
  readonly type: 'Refunded'
  readonly user: Address
  readonly inputAmount: bigint
  readonly bondSlashed: bigint
}

/** An event announced before, taken back because its block left the chain. */
export interface Reverted extends EventBase {
  readonly type: 'Reverted'
  readonly event: OrderEventType
}

/** Whatever happens to orders, in the order of each chain. */
export type OrderEvent = Deposited | Settled | Refunded | Reverted

/** Which events to tell of: of each kind of filter one must match; one that is left out lets all pass. */
export interface EventFilter {
  /**
   * Cursor of the last event that you have worked on: the events after it come first. New events only when left out. A cursor
   * that the log does not have, as after a restored backup, is CURSOR_UNKNOWN: read your orders, and leave it out.
   */
  readonly after?: string
  readonly chainIds?: readonly number[]
  readonly types?: readonly OrderEvent['type'][]
  readonly orderIds?: readonly Hex[]
  readonly users?: readonly Address[]
  readonly solvers?: readonly Address[]
}

const EVENT_TYPE_NUMBERS = {
  Deposited: EventType.DEPOSITED,
  Settled: EventType.SETTLED,
  Refunded: EventType.REFUNDED,
  Reverted: EventType.REVERTED,
} as const
const REVERTED_TYPES = {
  [EventType.DEPOSITED]: 'Deposited',
  [EventType.SETTLED]: 'Settled',
  [EventType.REFUNDED]: 'Refunded',
} as const

/** A filter as its message. */
export function toFilterMessage(filter: EventFilter): MessageInitShape<typeof StreamEventsRequestSchema> {
  return {
    ...(filter.after === undefined ? {} : { after: filter.after }),
    chainId: filter.chainIds?.map(BigInt) ?? [],
    type: filter.types?.map((type) => EVENT_TYPE_NUMBERS[type]) ?? [],
    orderId: [...(filter.orderIds ?? [])],
    user: [...(filter.users ?? [])],
    solver: [...(filter.solvers ?? [])],
  }
}

/**
 * Reads a message of the stream.
 * @returns the event, or undefined when the message tells of none
 * @throws AggregatorError ANSWER_INVALID
 */
export function readEvent({ event, cursor = '' }: StreamEventsResponse): OrderEvent | undefined {
  switch (event.case) {
    case 'deposited': {
      const { user, solver, inputToken, inputAmount, outputToken, outputAmount, fillDeadline } = event.value
      return {
        type: 'Deposited',
        ...readBase(event.value, cursor),
        user: readAddress(user),
        solver: readAddress(solver),
        inputToken: readAddress(inputToken),
        inputAmount: readUint256(inputAmount),
        outputToken: readAddress(outputToken),
        outputAmount: readUint256(outputAmount),
        fillDeadline,
      }
    }
    case 'settled':
      return { type: 'Settled', ...readBase(event.value, cursor) }
    case 'refunded':
      return {
        type: 'Refunded',
        ...readBase(event.value, cursor),
        user: readAddress(event.value.user),
        inputAmount: readUint256(event.value.inputAmount),
        bondSlashed: readUint256(event.value.bondSlashed),
      }
    case 'reverted':
      return {
        type: 'Reverted',
        ...readBase(event.value, cursor),
        event: readChoice(REVERTED_TYPES, event.value.event),
      }
    default:
      return undefined
  }
}

function readBase(
  value: { chainId: bigint; orderId: string; blockNumber: bigint },
  cursor: string,
): EventBase {
  return {
    chainId: readInteger(value.chainId),
    orderId: readBytes32(value.orderId),
    blockNumber: readInteger(value.blockNumber),
    cursor,
  }
}
