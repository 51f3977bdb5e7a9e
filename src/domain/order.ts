import type { Address, Hex } from './hex.js'

/** The order states, each at the index that is its number on the settlement contract (docs/decisions.md, D6). */
export const ORDER_STATES = ['NONE', 'DEPOSITED', 'SETTLED', 'REFUNDED'] as const

/** State of an order on the settlement contract. */
export type OrderState = (typeof ORDER_STATES)[number]

/** An order as the settlement contract has it. Amounts in the token's smallest unit. */
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

/** An order, or the fact that the contract does not know it. */
export type Order = KnownOrder | { readonly state: 'NONE'; readonly chainId: number; readonly orderId: Hex }
