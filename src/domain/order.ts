import type { Address, Hex } from './hex.js'

/** The order states. The index of each is its number on the settlement contract (docs/decisions.md, D6). */
export const ORDER_STATES = ['NONE', 'DEPOSITED', 'SETTLED', 'REFUNDED'] as const

/** State of an order on the settlement contract. */
export type OrderState = (typeof ORDER_STATES)[number]

/** An order on the settlement contract. Amounts in the token's smallest unit. */
export interface KnownOrder {
  readonly state: Exclude<OrderState, 'NONE'>
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
