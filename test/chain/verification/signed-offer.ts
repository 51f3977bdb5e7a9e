import { ORDER_TYPES, type SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { Fixture } from '../../support/chain/settlement.js'

/** A quote of `startSettlement` as the offer that the service makes of a solver's reply. */
export function offerOf(signed: Awaited<ReturnType<Fixture['signedQuote']>>): SignedQuote {
  const { quote, signature, orderId, depositAddress } = signed
  const { solver, user, inputToken, outputToken } = quote
  return {
    quote: {
      ...quote,
      solver: lowerCase(solver),
      user: lowerCase(user),
      inputToken: lowerCase(inputToken),
      outputToken: lowerCase(outputToken),
      orderType: ORDER_TYPES[quote.orderType] ?? 'EXACT_INPUT',
      outputChainId: Number(quote.outputChainId),
    },
    signature,
    orderId,
    depositAddress: lowerCase(depositAddress),
  }
}
