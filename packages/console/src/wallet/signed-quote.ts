import type { SignedQuote } from '@quote-aggregator/client'
import type { Address, Hex } from 'viem'
import { ORDER_TYPES } from '../../../protocol/src/quotes/quote.js'
import type { Offer } from '../data/auction/auction.js'

/** An offer as the client has it. @throws Error when the offer has no quote */
export function toSignedQuote({ quote, solverSignature, orderId, depositAddress }: Offer): SignedQuote {
  if (quote === undefined) throw new Error('The offer has no quote.')
  return {
    quote: {
      solver: quote.solver as Address,
      user: quote.user as Address,
      inputToken: quote.inputToken as Address,
      inputAmount: BigInt(quote.inputAmount),
      outputToken: quote.outputToken as Address,
      outputAmount: BigInt(quote.outputAmount),
      orderType: ORDER_TYPES[quote.orderType] ?? 'EXACT_INPUT',
      outputChainId: Number(quote.outputChainId),
      depositDeadline: quote.depositDeadline,
      fillDeadline: quote.fillDeadline,
      nonce: BigInt(quote.nonce),
    },
    signature: solverSignature as Hex,
    orderId: orderId as Hex,
    depositAddress: depositAddress as Address,
  }
}
