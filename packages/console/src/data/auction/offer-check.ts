import { OfferState } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { quoteService } from '../api.js'
import type { Offer } from './auction.js'

/**
 * Whether the contract has the order of an offer, or takes the offer no more, as the instance says (docs/decisions.md, D33). It can only
 * stop a swap: the user's own node decides.
 */
export async function isDead(chainId: bigint, offer: Offer, signal?: AbortSignal): Promise<boolean> {
  const { quote, solverSignature } = offer
  const request = { chainId, ...(quote && { quote }), solverSignature }
  const { state } = await quoteService.checkOffer(request, { signal })
  return state === OfferState.DEAD || state === OfferState.TAKEN
}
