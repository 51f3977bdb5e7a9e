import { type Address, getAddress, type Hex } from 'viem'
import type { Offer, Quote, QuoteKind } from '../../../protocol/src/quotes/quote.js'

/** A quote that the solver has signed. */
export interface SolverQuote extends Offer {
  readonly chainId: number
  readonly orderId: Hex
  /** Lower case. */
  readonly depositAddress: Address
  /** The user pays at the deposit address, or the request did not say how. */
  readonly isForAddress: boolean
  /** The `id` of the request that it answers: the id of the solver's own result. Undefined for a request without one. */
  readonly quoteId?: string | undefined
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
export interface DepositedOrder extends OrderTerms {
  /** At the contract: `fill(orderId)` pays. At the deposit address: `settle(quote, signature)` does. */
  readonly deposit: 'CONTRACT' | 'ADDRESS'
  /** Of the deposit; undefined when it was found by what the contract or the token says, as after a restart. */
  readonly transactionHash: Hex | undefined
}

/** A quote that is about to be sent. */
export interface QuotedOrder extends OrderTerms {
  /** Nobody is owed what a price (`INDICATIVE`) promises. */
  readonly kind: QuoteKind
}

/**
 * An order that has been paid. Its amounts are what the solver has got and paid: on some contracts, another account may have paid the
 * output, and taken less input.
 */
export interface FilledOrder extends OrderTerms {
  /** Undefined when the node does not show it. Then the amounts are those of the quote. */
  readonly transactionHash: Hex | undefined
  /** What the payment has used. Undefined when the kit did not send it: anyone may settle a deposit at an address. */
  readonly gasUsed: bigint | undefined
  /** What that has cost in wei, without what a rollup takes for its data; undefined as above. */
  readonly gasCost: bigint | undefined
}

/** An order that was not paid in time. */
export interface MissedOrder extends OrderTerms {
  /** Where its deposit was when it was missed. Undefined for one that was seen only afterwards. */
  readonly deposit: DepositedOrder['deposit'] | undefined
  /** What was taken from the bond, or is reserved for whoever refunds the order, in the bond token's smallest unit. */
  readonly cost: bigint
}

/** An order at the contract with less input than was quoted: its input amount is what has arrived. */
export interface ShortOrder extends DepositedOrder {
  readonly quotedInputAmount: bigint
}

/** A transaction of the account that was mined. */
export interface MinedTransaction {
  readonly chainId: number
  /** Of the account: each nonce has one transaction in the end. */
  readonly nonce: number
  readonly hash: Hex
  /** `PAYMENT` of an order; `CANCELLATION` of quotes; `APPROVAL` of a token; `OTHER` has taken the nonce of one that no block took, or is of an earlier version. */
  readonly purpose: 'PAYMENT' | 'CANCELLATION' | 'APPROVAL' | 'OTHER'
  /** Of a payment. */
  readonly orderId: Hex | undefined
  readonly isReverted: boolean
  readonly gasUsed: bigint
  /** In wei, without what a rollup takes for its data. */
  readonly gasCost: bigint
}

/** An order, with its quote where the state has it. */
type KnownOrder = Pick<SolverQuote, 'chainId' | 'orderId'> & { readonly signed: SolverQuote | undefined }

/** The terms of an order as the market maker gets them. */
export function toPublicTerms({ chainId, orderId, signed }: KnownOrder, terms: Terms): OrderTerms {
  const { user, inputToken, inputAmount, outputToken, outputAmount, fillDeadline } = terms
  return {
    chainId,
    orderId,
    quoteId: signed?.quoteId,
    user: getAddress(user),
    inputToken: getAddress(inputToken),
    inputAmount,
    outputToken: getAddress(outputToken),
    outputAmount,
    depositDeadline: signed?.quote.depositDeadline,
    fillDeadline,
  }
}

/** The terms of a quote as the market maker gets them. */
export const termsOf = (signed: SolverQuote) => toPublicTerms({ ...signed, signed }, signed.quote)
