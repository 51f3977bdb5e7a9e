import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import type { Prices } from '../../quoting/prices.js'
import { toCachedChecksumAddress } from '../../signing/checksum.js'
import { type Method, unaryMethod } from '../method.js'
import { readSwap } from './read-quote.js'

interface PriceServiceOptions {
  readonly prices: Pick<Prices, 'get'>
}

/** The method of QuoteService for prices. */
export function createPriceService({ prices }: PriceServiceOptions): Method[] {
  const getPrice = unaryMethod(QuoteService.method.getPrice, {
    limit: 'price',
    read: readSwap,
    async handle(swap, call) {
      const { quoteId, best, offers, asOf } = await prices.get(swap, call.address)
      call.recordQuote({ quoteId, winner: best.solver, offers })
      return {
        best: {
          solver: toCachedChecksumAddress(best.solver),
          name: best.name,
          inputAmount: best.inputAmount.toString(),
          outputAmount: best.outputAmount.toString(),
        },
        offers,
        asOf: BigInt(asOf),
      }
    },
  })

  return [getPrice]
}
