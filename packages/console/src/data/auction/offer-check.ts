import { OfferState } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { quoteService } from '../api.js'
import { useQuery } from '../query.js'
import type { Offer } from './auction.js'

/**
 * Whether the contract has the order of an offer, or takes the offer no more, as the instance says (docs/decisions.md, D33). It can only
 * stop a swap: the user's own node decides.
 */
export async function isDead(chainId: bigint, offer: Offer, signal?: AbortSignal): Promise<boolean> {
  const state = await readState(chainId, offer, signal)
  return state === OfferState.DEAD || state === OfferState.TAKEN
}

/** Whether the contract would take an offer now, as the instance says. @param offer undefined asks nothing */
export function useIsValid(chainId: bigint, offer: Offer | undefined): boolean {
  const read = (signal: AbortSignal) => readState(chainId, offer, signal)
  return useQuery(offer && `state ${offer.orderId}`, read).data === OfferState.VALID
}

async function readState(chainId: bigint, offer: Offer | undefined, signal?: AbortSignal) {
  const { quote, solverSignature = '' } = offer ?? {}
  const { state } = await quoteService.checkOffer(
    { chainId, ...(quote && { quote }), solverSignature },
    { signal },
  )
  return state
}
