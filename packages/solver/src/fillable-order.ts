import type { Address, Hex } from 'viem'
import type { Quote } from '../../../src/domain/quotes/quote.js'

/** A quote that the solver has signed. */
export interface SolverQuote {
  readonly chainId: number
  readonly quote: Quote
  readonly signature: Hex
  readonly orderId: Hex
  /** Lower case. */
  readonly depositAddress: Address
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
  /** Pays as the kit does. @returns when the payment is mined @throws when it cannot be paid */
  fill(): Promise<void>
}

/** An order that has been paid. */
export interface FilledOrder {
  readonly chainId: number
  readonly orderId: Hex
  /** Undefined when the kit did not send the payment: anyone may settle a deposit at an address. */
  readonly transactionHash: Hex | undefined
}

/** An order at the contract with less input than was quoted. */
export interface ShortOrder {
  readonly chainId: number
  readonly orderId: Hex
  readonly signed: SolverQuote
  /** What has arrived, in the token's smallest unit. */
  readonly inputAmount: bigint
}
