import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { type GetPriceResponse, OrderType } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { quoteService } from '../../data/api.js'
import { REFRESH_SECONDS } from '../../data/auction-stream.js'
import { type Query, useQuery } from '../../data/query.js'
import type { Wish } from '../../wallet/swap-calls.js'

/** The price of a swap without a user. It is no offer, and cannot be deposited. @param wish undefined asks for none */
export function usePrice(chain: Chain, wish: Wish | undefined): Query<GetPriceResponse> {
  const { chainId } = chain
  const request = wish && {
    chainId,
    inputToken: wish.inputToken,
    outputToken: wish.outputToken,
    orderType: wish.isExactInput ? OrderType.EXACT_INPUT : OrderType.EXACT_OUTPUT,
    amount: String(wish.amount),
  }
  const key = request && `price ${Object.values(request).join(' ')}`
  return useQuery(key, (signal) => quoteService.getPrice(request ?? {}, { signal }), {
    refreshMs: REFRESH_SECONDS * 1000,
  })
}
