import type { Address, Hex } from '../values/hex.js'

/** The order states. The index of each is its number on the settlement contract (docs/decisions.md, D6). */
export const ORDER_STATES = ['NONE', 'DEPOSITED', 'SETTLED', 'REFUNDED'] as const

/** State of an order on the settlement contract. */
export type OrderState = (typeof ORDER_STATES)[number]

/** The states of the orders that the contract knows. */
export const KNOWN_ORDER_STATES = [
  'DEPOSITED',
  'SETTLED',
  'REFUNDED',
] as const satisfies readonly OrderState[]

/** An order on the settlement contract. Amounts in the token's smallest unit. */
export interface KnownOrder {
  readonly state: (typeof KNOWN_ORDER_STATES)[number]
  readonly chainId: number
  readonly orderId: Hex
  readonly user: Address
  readonly solver: Address
  readonly inputToken: Address
  readonly inputAmount: bigint
  readonly outputToken: Address
  readonly outputAmount: bigint
  readonly outputChainId: number
  /** Unix time in seconds. */
  readonly fillDeadline: number
}

/** An order, or `NONE` when the contract does not know it. */
export type Order = KnownOrder | { readonly state: 'NONE'; readonly chainId: number; readonly orderId: Hex }

/** The event that moved an order into a state. */
export interface OrderStep {
  readonly blockNumber: number
  /** Index of the log in its block. */
  readonly logIndex: number
  readonly transactionHash: Hex
  /** Time of the block, Unix time in seconds. */
  readonly blockTime: number
}

/** The steps that an order has taken, as far as their events are published. */
export interface OrderSteps {
  readonly deposited?: OrderStep
  readonly settled?: OrderStep
  readonly refunded?: OrderStep
}

/** An order on the contract, with the steps whose events are published. */
export type OrderWithSteps = (KnownOrder & { readonly steps: OrderSteps }) | Exclude<Order, KnownOrder>

/** What the signed quote of an order says. It never changes, because the order's id is a hash of it. */
export type OrderTerms = Pick<
  KnownOrder,
  'inputToken' | 'inputAmount' | 'outputToken' | 'outputAmount' | 'outputChainId' | 'fillDeadline'
>

/** An order whose events are published. */
export interface ListedOrder {
  readonly chainId: number
  readonly orderId: Hex
  readonly state: KnownOrder['state']
  readonly user: Address
  /** Undefined while neither an event nor the contract has it, as for `terms`. */
  readonly solver: Address | undefined
  /** Undefined while an order without `Deposited` event could not be read from the contract. */
  readonly terms: OrderTerms | undefined
  readonly steps: OrderSteps
}

/** The filters of a list of orders. An order must match each filter that is set. */
export interface OrderFilter {
  readonly user?: Address
  readonly solver?: Address
  readonly state?: KnownOrder['state'] | undefined
}

/**
 * The position of an order in a list: that of its first event on the chain. Two orders of a block can have the same log index,
 * because nodes count a block's logs differently. The id sorts them.
 */
export interface OrderPosition extends Pick<OrderStep, 'blockNumber' | 'logIndex'> {
  readonly orderId: Hex
}

/** A page of orders, newest first. */
export interface OrderPage {
  readonly orders: readonly ListedOrder[]
  /** The position after which the next page begins; undefined on the last page. */
  readonly next: OrderPosition | undefined
}
