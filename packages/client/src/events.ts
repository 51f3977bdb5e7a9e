import type { Address, Hex } from 'viem'
import { ORDER_EVENT_TYPES, type OrderEventType } from '../../../src/domain/event.js'
import {
  readAddress,
  readBytes32,
  readChoice,
  readInteger,
  readList,
  readMessage,
  readText,
  readUint256,
} from './answer-fields.js'
import { chainIdProblem, check } from './arguments.js'
import type { Messages, Untrusted } from './messages.js'

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
   * that the log does not have, as after a restored backup, is CURSOR_UNKNOWN: leave it out, and read your orders after `connected`.
   */
  readonly after?: string
  readonly chainIds?: readonly number[]
  readonly types?: readonly OrderEvent['type'][]
  readonly orderIds?: readonly Hex[]
  readonly users?: readonly Address[]
  readonly solvers?: readonly Address[]
}

/** What the instance says first, at each opening of a stream. */
export interface Connected {
  readonly type: 'connected'
  readonly supportedChains: readonly number[]
  readonly cursor: string
}

/** A filter as the query of its request. @throws AggregatorError INVALID_ARGUMENT */
export function toFilterQuery(filter: EventFilter): string {
  for (const chainId of filter.chainIds ?? []) check({ chainIds: chainIdProblem(chainId) })
  const values: Readonly<
    Record<keyof Messages['StreamEventsRequest'], readonly (string | number)[] | undefined>
  > = {
    after: filter.after === undefined ? [] : [filter.after],
    chainId: filter.chainIds,
    type: filter.types,
    orderId: filter.orderIds,
    user: filter.users,
    solver: filter.solvers,
  }
  const query = new URLSearchParams()
  for (const [name, list = []] of Object.entries(values))
    for (const value of list) query.append(name, String(value))
  return query.toString()
}

/**
 * Reads an event of the stream.
 * @returns undefined for a type that this client does not know
 * @throws AggregatorError ANSWER_INVALID
 */
export function readEvent(answer: unknown): Connected | OrderEvent | undefined {
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
    case 'Settled':
      return { type, ...readBase(readMessage<'Settled'>(answer), cursor) }
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
      return { type, ...readBase(message, cursor), event: readChoice(ORDER_EVENT_TYPES, message.event) }
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
    cursor: readText(cursor),
  }
}
