import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import type { SignedQuote } from '../../../src/domain/quote.js'
import { depositAbi, toContractQuote } from './settlement-abi.js'

/** A call of a contract, as viem's `sendTransaction` and the calls of `sendCalls` (EIP-5792) take it. */
export interface Call {
  readonly to: Address
  readonly data: Hex
  readonly value: bigint
}

/**
 * What the user sends for an offer in deposit mode CONTRACT: the approval of the input token for exactly the input
 * amount, then the deposit. Check the offer with `verifyQuote` before.
 * @param options.settlement the settlement contract of the offer's chain
 */
export function depositCalls(offer: SignedQuote, options: { readonly settlement: Address }): [Call, Call] {
  const { settlement } = options
  const { inputToken, inputAmount } = offer.quote
  const approval = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [settlement, inputAmount],
  })
  const deposit = encodeFunctionData({
    abi: depositAbi,
    functionName: 'deposit',
    args: [toContractQuote(offer.quote), offer.signature],
  })
  return [
    { to: inputToken, data: approval, value: 0n },
    { to: settlement, data: deposit, value: 0n },
  ]
}

/**
 * What the user sends for an offer in deposit mode ADDRESS: one transfer of the input amount to the deposit address. Check
 * the offer with `verifyQuote` before: tokens sent to another address are lost.
 */
export function depositTransfer(offer: SignedQuote): Call {
  const { quote, depositAddress } = offer
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [depositAddress, quote.inputAmount],
  })
  return { to: quote.inputToken, data, value: 0n }
}
