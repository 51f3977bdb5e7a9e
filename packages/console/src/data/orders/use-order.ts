import type { GetOrderResponse } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { GetQuoteRecordResponse } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { orderService, quoteService } from '../api.js'
import { type Query, useQuery } from '../query.js'

/** An order, read again with its events. @param orderId undefined reads nothing @param refreshMs time between two calls */
export function useOrder(
  chainId: bigint,
  orderId: string | undefined,
  refreshMs: number | undefined,
): Query<GetOrderResponse> {
  return useQuery(
    orderId && `order ${chainId} ${orderId}`,
    (signal) => orderService.getOrder({ chainId, orderId: orderId ?? '' }, { signal }),
    { refreshMs, refreshOn: (event) => event.orderId === orderId },
  )
}

/** The record of a quote. @param quoteId undefined reads nothing */
export function useQuoteRecord(chainId: bigint, quoteId: string | undefined): Query<GetQuoteRecordResponse> {
  return useQuery(quoteId && `record ${chainId} ${quoteId}`, (signal) =>
    quoteService.getQuoteRecord({ chainId, quoteId: quoteId ?? '' }, { signal }),
  )
}
