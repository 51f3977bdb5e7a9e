import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { ServiceError } from '../../domain/errors.js'
import type { Quoting } from '../../quoting/quoting.js'
import type { QuoteRecorder } from '../../quoting/records/quote-recorder.js'
import type { Aggregator } from '../../quoting/round/aggregator.js'
import { toSignedQuoteMessage } from '../convert/convert.js'
import { toQuoteRecordMessage } from '../convert/convert-records.js'
import { type Method, unaryMethod } from '../method.js'
import type { ReadQuote } from './read-quote.js'

interface QuoteServiceOptions {
  readonly aggregator: Aggregator
  readonly readQuote: ReadQuote
  readonly recorder: Pick<QuoteRecorder, 'read'>
  readonly typedDataOf: Quoting['typedDataOf']
}

/** The unary methods of QuoteService. */
export function createQuoteService(options: QuoteServiceOptions): Method[] {
  const { aggregator, readQuote, recorder, typedDataOf } = options

  const getQuote = unaryMethod(QuoteService.method.getQuote, {
    limit: 'quote',
    read: readQuote,
    async handle({ toRequest, softDeadline, verify }, call) {
      const options = { softDeadline, verify }
      const { quoteId, offers, error } = await aggregator.runRound(toRequest(), call, options)
      if (error !== undefined) throw error
      const winner = offers[0]?.quote.solver
      if (winner !== undefined) call.recordQuote({ quoteId, winner, offers: offers.length })
      const [best, ...alternativeQuotes] = offers.map(toSignedQuoteMessage)
      return { ...best, alternativeQuotes, quoteId }
    },
  })

  const getQuoteRecord = unaryMethod(QuoteService.method.getQuoteRecord, {
    limit: 'global',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      quoteId: fields.uuid('quoteId', message.quoteId),
    }),
    async handle({ chainId, quoteId }) {
      const record = await recorder.read(chainId, quoteId)
      if (record === undefined)
        throw new ServiceError(
          'QUOTE_NOT_FOUND',
          'This chain has no record of this quote, or no longer has one.',
        )
      return toQuoteRecordMessage(record, typedDataOf(chainId))
    },
  })

  return [getQuote, getQuoteRecord]
}
