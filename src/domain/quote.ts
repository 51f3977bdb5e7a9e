import type { Address, Hex } from './hex.js'

/** The order types, each at the index that is its number on the settlement contract (docs/decisions.md, D3). */
export const ORDER_TYPES = ['EXACT_INPUT', 'EXACT_OUTPUT'] as const

/** Which side of a swap is fixed. */
export type OrderType = (typeof ORDER_TYPES)[number]

/** How the user intends to deposit: by calling the contract, or by a transfer to the deposit address. */
export type DepositMode = 'CONTRACT' | 'ADDRESS'

/** What a user asks for, with the deadlines that the service sets. Amounts in the token's smallest unit. */
export interface QuoteRequest {
  readonly chainId: number
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  /** Amount of the fixed side: input for EXACT_INPUT, output for EXACT_OUTPUT. */
  readonly amount: bigint
  readonly user: Address
  readonly destinationChainId: number
  readonly depositMode: DepositMode
  /** Unix time in seconds. */
  readonly depositDeadline: number
  /** Unix time in seconds. */
  readonly fillDeadline: number
}

/** The settlement contract's quote struct (docs/protocol.md, "Quote struct"). Amounts in the token's smallest unit. */
export interface Quote {
  readonly solver: Address
  readonly user: Address
  readonly inputToken: Address
  readonly inputAmount: bigint
  readonly outputToken: Address
  readonly outputAmount: bigint
  readonly orderType: OrderType
  readonly outputChainId: number
  /** Unix time in seconds. */
  readonly depositDeadline: number
  /** Unix time in seconds. */
  readonly fillDeadline: number
  readonly nonce: bigint
}

/** A quote that the settlement contract will accept from the user, with what identifies it there. */
export interface SignedQuote {
  readonly quote: Quote
  readonly signature: Hex
  readonly orderId: Hex
  readonly depositAddress: Address
}

/** How long a user has to deposit, and a solver to fill. */
export interface QuoteWindows {
  readonly depositWindowSeconds: number
  readonly fillWindowSeconds: number
}

/**
 * The deadlines of a quote asked for now (docs/decisions.md, D4).
 * @param nowMs the clock, Unix time in milliseconds
 * @returns both deadlines, Unix time in seconds
 */
export function deadlines(nowMs: number, windows: QuoteWindows) {
  const depositDeadline = Math.floor(nowMs / 1000) + windows.depositWindowSeconds
  return { depositDeadline, fillDeadline: depositDeadline + windows.fillWindowSeconds }
}
