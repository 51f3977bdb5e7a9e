import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { type GetPriceResponse, OrderType } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { quoteService } from '../../data/api.js'
import { REFRESH_SECONDS } from '../../data/auction/auction-stream.js'
import { type Query, useQuery } from '../../data/query.js'
import type { WantedSwap } from '../../wallet/swap-calls.js'

/** The price of a swap without a user. It is no offer, and cannot be deposited. @param wanted undefined asks for none */
export function usePrice(chain: Chain, wanted: WantedSwap | undefined): Query<GetPriceResponse> {
  const { chainId } = chain
  const request = wanted && {
    chainId,
    inputToken: wanted.inputToken,
    outputToken: wanted.outputToken,
    orderType: wanted.isExactInput ? OrderType.EXACT_INPUT : OrderType.EXACT_OUTPUT,
    amount: String(wanted.amount),
  }
  const key = request && `price ${Object.values(request).join(' ')}`
  return useQuery(key, (signal) => quoteService.getPrice(request ?? {}, { signal }), {
    refreshMs: REFRESH_SECONDS * 1000,
  })
}
