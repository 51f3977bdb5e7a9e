import { create } from '@bufbuild/protobuf'
import type { SignedQuote } from '@quote-aggregator/client'
import { QuoteSchema } from '../../../gen/aggregator/v1/quote_pb.js'

/** An offer as the instance sends it. */
export function toConsoleOffer({ quote, signature, orderId, depositAddress }: SignedQuote) {
  const terms = {
    ...quote,
    inputAmount: String(quote.inputAmount),
    outputAmount: String(quote.outputAmount),
    nonce: String(quote.nonce),
    orderType: 0,
    outputChainId: BigInt(quote.outputChainId),
  }
  return {
    quote: create(QuoteSchema, terms),
    solverSignature: signature,
    orderId,
    depositAddress,
    verified: false,
  }
}
