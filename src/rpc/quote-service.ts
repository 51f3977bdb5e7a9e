import { DepositMode, OrderType, QuoteService } from '../../gen/aggregator/v1/quote_pb.js'
import type { ChainConfig } from '../config.js'
import { ServiceError } from '../domain/errors.js'
import { DEPOSIT_WINDOW } from '../domain/field-rules.js'
import { deadlines, type QuoteRequest } from '../domain/quote.js'
import type { Aggregator } from '../quoting/aggregator.js'
import type { QuoteRecorder } from '../quoting/quote-recorder.js'
import type { Quoting } from '../quoting/quoting.js'
import { toSignedQuoteMessage } from './convert.js'
import { toQuoteRecordMessage } from './convert-records.js'
import { type Method, unaryMethod } from './method.js'

interface QuoteServiceOptions {
  readonly chains: readonly Pick<ChainConfig, 'chainId' | 'destinationChains'>[]
  readonly aggregator: Aggregator
  readonly recorder: Pick<QuoteRecorder, 'read'>
  readonly typedDataOf: Quoting['typedDataOf']
  readonly defaultDepositWindowSeconds: number
  readonly defaultFillWindowSeconds: number
  readonly now: () => number
}

const ORDER_TYPE_NAMES = {
  [OrderType.EXACT_INPUT]: 'EXACT_INPUT',
  [OrderType.EXACT_OUTPUT]: 'EXACT_OUTPUT',
} as const
const DEPOSIT_MODE_NAMES = { [DepositMode.CONTRACT]: 'CONTRACT', [DepositMode.ADDRESS]: 'ADDRESS' } as const

/** The methods of QuoteService. */
export function createQuoteService(options: QuoteServiceOptions): Method[] {
  const { aggregator, recorder, typedDataOf, defaultDepositWindowSeconds, defaultFillWindowSeconds, now } =
    options

  const destinations = new Map(options.chains.map((chain) => [chain.chainId, chain.destinationChains]))

  const getQuote = unaryMethod(QuoteService.method.getQuote, {
    limit: 'quote',
    read(message, fields) {
      if (message.originChainId !== message.chainId) {
        fields.addViolation('originChainId', `must equal the chain of the request, ${message.chainId}`)
      }
      const window = message.depositWindow ?? defaultDepositWindowSeconds
      const chainId = Number(message.chainId)
      const inputToken = fields.address('inputToken', message.inputToken)
      const outputToken = fields.address('outputToken', message.outputToken)
      if (outputToken === inputToken) fields.addViolation('outputToken', 'must differ from inputToken')
      return {
        chainId,
        inputToken,
        outputToken,
        orderType: fields.choice('orderType', message.orderType, ORDER_TYPE_NAMES) ?? 'EXACT_INPUT',
        amount: fields.amount('amount', message.amount),
        user: fields.address('userAddress', message.userAddress),
        destinationChainId: fields.oneOf(
          'destinationChainId',
          message.destinationChainId,
          destinations.get(chainId) ?? [],
        ),
        depositMode: fields.choice('depositMode', message.depositMode, DEPOSIT_MODE_NAMES) ?? 'CONTRACT',
        depositWindowSeconds: fields.integer('depositWindow', window, DEPOSIT_WINDOW),
      }
    },

    async handle({ depositWindowSeconds, ...asked }, call) {
      const windows = { depositWindowSeconds, fillWindowSeconds: defaultFillWindowSeconds }
      const request: QuoteRequest = { ...asked, ...deadlines(now(), windows) }
      const { quoteId, offers } = await aggregator.quote(request, call)
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
