import type { Address, Hex } from 'viem'
import type { Quote } from '../../../protocol/src/quotes/quote.js'

/** A quote that the solver has signed. */
export interface SolverQuote {
  readonly chainId: number
  readonly quote: Quote
  readonly signature: Hex
  readonly orderId: Hex
  /** Lower case. */
  readonly depositAddress: Address
  /** The user pays at the deposit address, or the request did not say how. */
  readonly isForAddress: boolean
  /** The `id` of the request that it answers: the id of the solver's own result. Undefined for a request without one. */
  readonly quoteId?: string | undefined
}

/** An order whose deposit is there, and which is to be paid. */
export interface FillableOrder {
  readonly chainId: number
  readonly orderId: Hex
  /** At the contract: `fill(orderId)` pays. At the deposit address: `settle(quote, signature)` does. */
  readonly deposit: 'CONTRACT' | 'ADDRESS'
  /** Undefined for an order of a quote that this state does not have. Then the deposit is at the contract. */
  readonly signed: SolverQuote | undefined
  /** Aborts when the solver is closed. */
  readonly signal: AbortSignal
  /** Pays as the kit does. @returns when the order is paid @throws when it is not, and when it was missed */
  fill(): Promise<void>
}

/** The terms of an order. Addresses in EIP-55 form, amounts in the token's smallest unit, times in Unix seconds. */
export interface OrderTerms extends Terms {
  readonly chainId: number
  readonly orderId: Hex
  /** The `id` of the request that its quote answers. Undefined when the state does not have the quote. */
  readonly quoteId: string | undefined
  /** Undefined when the state does not have the quote. */
  readonly depositDeadline: number | undefined
}

/** What a quote, or the contract, says of an order. */
export type Terms = Pick<
  Quote,
  'user' | 'inputToken' | 'inputAmount' | 'outputToken' | 'outputAmount' | 'fillDeadline'
>

/** An order whose deposit was seen, and which is to be paid. Its input amount is what has arrived at the contract. */
export interface DepositedOrder extends OrderTerms, Pick<FillableOrder, 'deposit'> {
  /** Of the deposit; undefined when it was found by what the contract or the token says, as after a restart. */
  readonly transactionHash: Hex | undefined
}

/** An order that has been paid. */
export interface FilledOrder extends OrderTerms {
  /** Of the payment. Undefined when the kit did not send it: anyone may settle a deposit at an address. */
  readonly transactionHash: Hex | undefined
  /** What the payment has used; undefined as above. */
  readonly gasUsed: bigint | undefined
  /** What that has cost in wei, without what a rollup takes for its data; undefined as above. */
  readonly gasCost: bigint | undefined
}

/** An order at the contract with less input than was quoted. */
export interface ShortOrder {
  readonly chainId: number
  readonly orderId: Hex
  readonly signed: SolverQuote
  /** What has arrived, in the token's smallest unit. */
  readonly inputAmount: bigint
}
