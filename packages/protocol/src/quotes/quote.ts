import type { Address, Hex } from '../values/hex.js'

/** The order types. The index of each is its number on the settlement contract (docs/decisions.md, D3). */
export const ORDER_TYPES = ['EXACT_INPUT', 'EXACT_OUTPUT'] as const

/** The fixed side of a swap. */
export type OrderType = (typeof ORDER_TYPES)[number]

export const DEPOSIT_MODES = ['CONTRACT', 'ADDRESS'] as const

/** How the user intends to deposit: by a contract call, or by a transfer to the deposit address. */
export type DepositMode = (typeof DEPOSIT_MODES)[number]

/** What the offers of a request are for. INDICATIVE ones are prices: nobody can deposit (docs/decisions.md, D17). */
export type QuoteKind = 'FIRM' | 'INDICATIVE'

/** The user of INDICATIVE requests: an address without a known key. */
export const NO_USER: Address = '0x000000000000000000000000000000000000dead'

/** A swap without its user. */
export interface Swap {
  /** Chain of the deposit and of the solvers. */
  readonly chainId: number
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  /** Amount of the fixed side, input for EXACT_INPUT, output for EXACT_OUTPUT, in the token's smallest unit. */
  readonly amount: bigint
}

/** A request to solvers, with the deadlines that the service sets. */
export interface QuoteRequest extends Swap {
  readonly kind: QuoteKind
  readonly user: Address
  readonly destinationChainId: number
  readonly depositMode: DepositMode
  /** Unix time in seconds. */
  readonly depositDeadline: number
  /** Unix time in seconds. */
  readonly fillDeadline: number
  /**
   * Earliest deposit deadline of an offer, Unix time in seconds; absent when it must be that of the request
   * (docs/decisions.md, D32).
   */
  readonly minDepositDeadline?: number | undefined
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

/** The members of the struct in the contract's order, with their Solidity types. */
export const QUOTE_MEMBERS = [
  { name: 'solver', type: 'address' },
  { name: 'user', type: 'address' },
  { name: 'inputToken', type: 'address' },
  { name: 'inputAmount', type: 'uint256' },
  { name: 'outputToken', type: 'address' },
  { name: 'outputAmount', type: 'uint256' },
  { name: 'orderType', type: 'uint8' },
  { name: 'outputChainId', type: 'uint256' },
  { name: 'depositDeadline', type: 'uint32' },
  { name: 'fillDeadline', type: 'uint32' },
  { name: 'nonce', type: 'uint256' },
] as const

/** The EIP-712 primary type of a protocol's quotes (docs/decisions.md, D1). */
export function quoteTypeName(protocolName: string): string {
  return `${protocolName}Quote`
}

/** A quote with the values of the contract's struct, as viem encodes them. */
export function toContractQuote(quote: Quote) {
  return {
    ...quote,
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    outputChainId: BigInt(quote.outputChainId),
  }
}

/** What a solver offers: a quote with its signature. */
export interface Offer {
  readonly quote: Quote
  readonly signature: Hex
}

/** An offer with the order id and the deposit address that the contract computes from it. */
export interface SignedQuote extends Offer {
  readonly orderId: Hex
  readonly depositAddress: Address
  /** Whether the settlement contract accepted it when it was asked (docs/decisions.md, D13); absent in all other cases. */
  readonly verified?: true
}
