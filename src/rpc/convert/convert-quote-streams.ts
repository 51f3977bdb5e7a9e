import type { MessageInitShape } from '@bufbuild/protobuf'
import type { StreamQuotesResponseSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import type { QuoteStreamItem } from '../../quoting/quote-stream.js'
import { countAnswered } from '../../quoting/round/round-progress.js'
import { toSignedQuoteMessage } from './convert.js'

export type QuoteStreamMessage = NonNullable<MessageInitShape<typeof StreamQuotesResponseSchema>['message']>

/** The message of an item of a quote stream (docs/decisions.md, D16). */
export function toQuoteStreamMessage(item: QuoteStreamItem): QuoteStreamMessage {
  switch (item.kind) {
    case 'quote': {
      const { quoteId, round, offer, counts } = item
      const answered = countAnswered(counts)
      return {
        case: 'quote',
        value: { ...toSignedQuoteMessage(offer), quoteId, round, asked: counts.asked, answered },
      }
    }
    case 'done': {
      const { quoteId, round, counts, offers } = item
      const { asked, quoted, declined, invalid, failed, late } = counts
      const [best, ...others] = offers
      return {
        case: 'done',
        value: {
          ...{ quoteId, round, asked, quoted, declined, invalid, failed, late },
          bestOrderId: best?.orderId,
          alternativeQuotes: others.map(toSignedQuoteMessage),
          expiresAt: best && BigInt(best.quote.depositDeadline) * 1000n,
        },
      }
    }
    case 'heartbeat':
      return { case: 'heartbeat', value: {} }
  }
}
