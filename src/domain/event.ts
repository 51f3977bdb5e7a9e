import type { Address, Hex } from './hex.js'

/** The order events of the settlement contract, by the names that it gives them (docs/protocol.md, "Event messages"). */
export const ORDER_EVENT_TYPES = ['Deposited', 'Settled', 'Refunded'] as const

export type OrderEventType = (typeof ORDER_EVENT_TYPES)[number]

/** What all order events say. */
interface OrderEventBase {
  readonly chainId: number
  readonly orderId: Hex
  readonly user: Address
  /** Undefined when neither the event nor the contract says whose order it was. */
  readonly solver: Address | undefined
  readonly blockNumber: number
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

/** An event announced before, taken back because its block left the chain (docs/decisions.md, D9). */
export interface Reverted extends OrderEventBase {
  readonly type: 'Reverted'
  readonly event: OrderEventType
}

/** Whatever subscribers are told of. */
export type StreamEvent = OrderEvent | Reverted

/** An entry of the event log: what subscribers are told, and where in the log that stands. */
export interface LogEntry {
  /** Counts up by one over all chains of the instance, from 1. */
  readonly sequence: number
  readonly event: StreamEvent
  /** Differs from the digest of the entry that another history of the log has at the same sequence: 8 characters. */
  readonly digest: string
}

/** The events that a subscriber wants: of each kind of filter one must match; an empty one lets all pass. */
export interface EventFilter {
  readonly chainIds: ReadonlySet<number>
  readonly types: ReadonlySet<StreamEvent['type']>
  readonly orderIds: ReadonlySet<Hex>
  readonly users: ReadonlySet<Address>
  readonly solvers: ReadonlySet<Address>
}

/** The filter that lets everything pass. */
export const EVERY_EVENT: EventFilter = {
  chainIds: new Set(),
  types: new Set(),
  orderIds: new Set(),
  users: new Set(),
  solvers: new Set(),
}

/**
 * Whether an event passes a filter. A reversion passes a filter of types that its event passes: who was told of an
 * event is told when it is taken back.
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
