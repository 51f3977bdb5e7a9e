import type { Address, Hex } from '../values/hex.js'

/** The order events of the settlement contract, with the contract's names (docs/protocol.md, "Event messages"). */
export const ORDER_EVENT_TYPES = ['Deposited', 'Settled', 'Refunded'] as const

export type OrderEventType = (typeof ORDER_EVENT_TYPES)[number]

/** The fields of all order events. */
interface OrderEventBase {
  readonly chainId: number
  readonly orderId: Hex
  readonly user: Address
  /** Undefined when neither the event nor the contract has the order's solver. */
  readonly solver: Address | undefined
  readonly blockNumber: number
  /** Index of the log in its block. */
  readonly logIndex: number
  readonly transactionHash: Hex
  /** Time of the block, Unix time in seconds. */
  readonly blockTime: number
}

/** A deposit for an order. Amounts in the token's smallest unit. */
export interface Deposited extends OrderEventBase {
  readonly type: 'Deposited'
  readonly inputToken: Address
  readonly inputAmount: bigint
  readonly outputToken: Address
  readonly outputAmount: bigint
  /** Unix time in seconds. */
  readonly fillDeadline: number
}

export interface Settled extends OrderEventBase {
  readonly type: 'Settled'
}

/** A refund; `bondSlashed` in the bond token's smallest unit. */
export interface Refunded extends OrderEventBase {
  readonly type: 'Refunded'
  readonly inputAmount: bigint
  readonly bondSlashed: bigint
}

export type OrderEvent = Deposited | Settled | Refunded

/** How a field of an event is written. Amounts are in a token's smallest unit, seconds are Unix time. */
export type EventFieldKind = 'address' | 'amount' | 'seconds'

/** The fields that subscribers get of one kind of event, besides those of all events. */
type EventFields<Event> = Readonly<
  Record<Exclude<keyof Event, keyof OrderEventBase | 'type'>, EventFieldKind>
> & { readonly user: 'address'; readonly solver?: 'address' }

/**
 * The fields of each kind of event, from which its row in the log, its message and its schema follow. `Refunded` has no solver,
 * as in the contract's event.
 */
export const ORDER_EVENT_FIELDS: { readonly [Event in OrderEvent as Event['type']]: EventFields<Event> } = {
  Deposited: {
    user: 'address',
    solver: 'address',
    inputToken: 'address',
    outputToken: 'address',
    fillDeadline: 'seconds',
    inputAmount: 'amount',
    outputAmount: 'amount',
  },
  Settled: { user: 'address', solver: 'address' },
  Refunded: { user: 'address', inputAmount: 'amount', bondSlashed: 'amount' },
}

/** A published event that was removed by a reorganisation (docs/decisions.md, D9). */
export interface Reverted extends OrderEventBase {
  readonly type: 'Reverted'
  readonly event: OrderEventType
}

/** An event that subscribers receive. */
export type StreamEvent = OrderEvent | Reverted

/** An entry of the event log: an event with its position in the log. */
export interface LogEntry {
  /** Counts up by one over all chains of the instance, from 1. */
  readonly sequence: number
  readonly event: StreamEvent
  /** Eight characters that differ from those of another history's entry at the same sequence. */
  readonly digest: string
}

/** The filters of a subscriber. Each kind of filter must match one of its values; an empty one matches all. */
export interface EventFilter {
  readonly chainIds: ReadonlySet<number>
  readonly types: ReadonlySet<StreamEvent['type']>
  readonly orderIds: ReadonlySet<Hex>
  readonly users: ReadonlySet<Address>
  readonly solvers: ReadonlySet<Address>
}

/** The filter that every event passes. */
export const EVERY_EVENT: EventFilter = {
  chainIds: new Set(),
  types: new Set(),
  orderIds: new Set(),
  users: new Set(),
  solvers: new Set(),
}

/**
 * Whether an event passes a filter. A `Reverted` event also passes a filter for the type of the event that it reverts, so
 * that subscribers who received an event also receive its removal.
 */
export function matches(filter: EventFilter, event: StreamEvent): boolean {
  return (
    has(filter.chainIds, event.chainId) &&
    (has(filter.types, event.type) || (event.type === 'Reverted' && filter.types.has(event.event))) &&
    has(filter.orderIds, event.orderId) &&
    has(filter.users, event.user) &&
    has(filter.solvers, event.solver)
  )
}

function has<T>(wanted: ReadonlySet<T>, value: T | undefined): boolean {
  return wanted.size === 0 || (value !== undefined && wanted.has(value))
}
