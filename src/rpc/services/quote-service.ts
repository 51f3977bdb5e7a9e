import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  DepositMode,
  type GetPriceRequest,
  type GetQuoteRequest,
  OrderType,
  type QuoteSchema,
  QuoteService,
  type StreamQuotesRequest,
  VerifyMode as VerifyModeNumber,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import {
  DEPOSIT_WINDOW,
  integerOf,
  MIN_DEPOSIT_WINDOW,
  MIN_QUOTES,
} from '../../../packages/protocol/src/field-rules.js'
import {
  DEPOSIT_MODES,
  ORDER_TYPES,
  type Quote,
  type QuoteRequest,
  type SignedQuote,
} from '../../../packages/protocol/src/quotes/quote.js'
import { VERIFY_MODES, type VerifyMode } from '../../../packages/protocol/src/quotes/verification.js'
import { deadlines } from '../../../packages/protocol/src/signing/quote-request.js'
import {
  toCachedChecksumAddress,
  toChecksumAddress,
} from '../../../packages/protocol/src/signing/typed-data.js'
import type { RoundOptions } from '../../auction/auction.js'
import { ownSoftDeadline, type SoftDeadline } from '../../auction/round.js'
import { type CallsMessage, toCallsMessage } from '../convert/convert-calls.js'
import { toQuoteRecordMessage } from '../convert/convert-records.js'
import { byNumber } from '../convert/enum-words.js'
import type { Fields } from '../fields.js'
import { type Method, unaryMethod } from '../method.js'
import type { ServiceContext } from './context.js'

/** The unary methods of QuoteService. */
export function createQuoteService(context: ServiceContext): Method[] {
  const { config, clock } = context
  const { auction, prices, recorder, typedDataOf } = context.auction
  const readQuote = createReadQuote(context, config.quoteSoftTimeoutMs)

  const getQuote = unaryMethod(QuoteService.method.getQuote, {
    limit: 'quote',
    read: readQuote,
    async handle({ toRequest, roundOptions, toOfferMessage }, call) {
      const { quoteId, offers, error } = await auction.runRound(toRequest(), call, roundOptions)
      if (error !== undefined) throw error
      const winner = offers[0]?.quote.solver
      if (winner !== undefined) call.recordQuote({ quoteId, winner, offers: offers.length })
      const [best, ...alternativeQuotes] = offers.map(toOfferMessage)
      return { ...best, alternativeQuotes, quoteId, serverTime: BigInt(clock.now()) }
    },
  })

  const getPrice = unaryMethod(QuoteService.method.getPrice, {
    limit: 'price',
    read: (message, fields) => ({
      ...readSwap(message, fields),
      minDepositWindow: readMinDepositWindow(message, config.defaultDepositWindowSeconds, fields),
    }),
    async handle(swap, call) {
      const { quoteId, best, offers, asOf } = await prices.get(swap, call.client)
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
        serverTime: BigInt(clock.now()),
      }
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

  return [getQuote, getPrice, getQuoteRecord]
}

/** A valid request for quotes. */
export interface AskedQuote {
  readonly chainId: number
  readonly roundOptions: RoundOptions & { readonly verify: VerifyMode }
  /** Makes the request of a round, with its deadlines. */
  toRequest(): QuoteRequest
  /** Makes the message of an offer, with its calls where the request asks for them. */
  toOfferMessage(offer: SignedQuote): OfferMessage
}

type OfferMessage = ReturnType<typeof toSignedQuoteMessage> & Partial<CallsMessage>

/** Reads the fields that GetQuote and StreamQuotes share. The result is used only when there is no violation. */
export type ReadQuote = (message: QuoteMessage, fields: Fields) => AskedQuote

type QuoteMessage = Omit<GetQuoteRequest, '$typeName'> | Omit<StreamQuotesRequest, '$typeName'>

const ORDER_TYPE_NAMES = byNumber(ORDER_TYPES, OrderType)
const DEPOSIT_MODE_NAMES = byNumber(DEPOSIT_MODES, DepositMode)

/** The fields of a swap. */
type SwapMessage = Pick<GetQuoteRequest, 'chainId' | 'inputToken' | 'outputToken' | 'orderType' | 'amount'>

/** Addresses by which wallets and other protocols mean the chain's own coin: it is no ERC-20 token. */
const NATIVE_COIN = /^0x(0{40}|e{40})$/i

/** Reads the fields that quotes and prices share. */
function readSwap(message: SwapMessage, fields: Fields) {
  for (const field of ['inputToken', 'outputToken'] as const)
    if (NATIVE_COIN.test(message[field]))
      fields.addViolation(field, "stands for the chain's own coin: give the address of its wrapped token")
  const inputToken = fields.address('inputToken', message.inputToken)
  const outputToken = fields.address('outputToken', message.outputToken)
  if (outputToken === inputToken) fields.addViolation('outputToken', 'must differ from inputToken')
  return {
    chainId: Number(message.chainId),
    inputToken,
    outputToken,
    orderType: fields.choice('orderType', message.orderType, ORDER_TYPE_NAMES) ?? 'EXACT_INPUT',
    amount: fields.amount('amount', message.amount),
  }
}

/** @param depositWindow that of the request, in seconds */
function readMinDepositWindow(
  { minDepositWindow }: Pick<QuoteMessage | GetPriceRequest, 'minDepositWindow'>,
  depositWindow: number,
  fields: Fields,
): number | undefined {
  if (minDepositWindow === undefined) return undefined
  const { minimum } = MIN_DEPOSIT_WINDOW
  const mustBe = `must be an integer of ${minimum} to the deposit window, ${depositWindow}`
  return fields.integer('minDepositWindow', minDepositWindow, { minimum, maximum: depositWindow, mustBe })
}

/** Builds the reader of requests for quotes. @param quoteSoftTimeoutMs the instance's own soft deadline; 0 for none */
export function createReadQuote(
  { config, deadlineTime }: ServiceContext,
  quoteSoftTimeoutMs: number,
): ReadQuote {
  const { quoteTimeoutMs, verifyQuotes, verifyMax } = config
  const chains = new Map(config.chains.map((chain) => [chain.chainId, chain]))
  const softDeadlineRule = integerOf(0, quoteTimeoutMs)
  const verifyModes = byNumber(VERIFY_MODES.slice(0, VERIFY_MODES.indexOf(verifyMax) + 1), VerifyModeNumber)

  /** @returns undefined when the round waits for all solvers */
  function readSoftDeadline(
    { softDeadlineMs, minQuotes }: QuoteMessage,
    fields: Fields,
  ): SoftDeadline | undefined {
    const afterMs =
      softDeadlineMs === undefined
        ? quoteSoftTimeoutMs
        : fields.integer('softDeadlineMs', softDeadlineMs, softDeadlineRule)
    if (minQuotes !== undefined) {
      fields.integer('minQuotes', minQuotes, MIN_QUOTES)
      if (afterMs === 0)
        fields.addViolation('minQuotes', 'must be left out when the round waits for all solvers')
    }
    if (softDeadlineMs === undefined) return ownSoftDeadline(afterMs, minQuotes)
    return afterMs === 0 ? undefined : { afterMs, minQuotes: minQuotes ?? 1, isOwn: false }
  }

  function readVerify({ verify }: QuoteMessage, fields: Fields): VerifyMode {
    return (verify === undefined ? undefined : fields.choice('verify', verify, verifyModes)) ?? verifyQuotes
  }

  return (message, fields) => {
    if (message.originChainId !== message.chainId)
      fields.addViolation('originChainId', `must equal the chain of the request, ${message.chainId}`)
    const swap = readSwap(message, fields)
    const chain = chains.get(swap.chainId)
    const terms = {
      user: fields.address('userAddress', message.userAddress),
      destinationChainId: fields.oneOf(
        'destinationChainId',
        message.destinationChainId,
        chain?.destinationChains ?? [],
        `, unless the operator allows others in DESTINATION_CHAINS_${message.chainId}`,
      ),
      depositMode: fields.choice('depositMode', message.depositMode, DEPOSIT_MODE_NAMES) ?? 'CONTRACT',
    }
    const ownWindow = config.defaultDepositWindowSeconds
    const window = message.depositWindow ?? ownWindow
    const shortest = readMinDepositWindow(message, window, fields)
    const windows = {
      depositWindowSeconds: fields.integer('depositWindow', window, DEPOSIT_WINDOW),
      fillWindowSeconds: config.defaultFillWindowSeconds,
      minDepositWindowSeconds: terms.depositMode === 'CONTRACT' ? shortest : undefined,
    }
    return {
      chainId: swap.chainId,
      roundOptions: {
        softDeadline: readSoftDeadline(message, fields),
        depositWindow: window === ownWindow ? undefined : window,
        verify: readVerify(message, fields),
      },
      toRequest: () => ({
        kind: 'FIRM',
        ...swap,
        ...terms,
        ...deadlines(deadlineTime(swap.chainId), windows),
      }),
      toOfferMessage: (offer) => ({
        ...toSignedQuoteMessage(offer),
        ...(message.includeCalls && chain && toCallsMessage(offer, terms.depositMode, chain)),
      }),
    }
  }
}

/** The message of a signed quote, with addresses in EIP-55 form (docs/decisions.md, D3). */
function toSignedQuoteMessage(signed: SignedQuote) {
  return {
    quote: toQuoteMessage(signed.quote),
    solverSignature: signed.signature,
    depositAddress: toChecksumAddress(signed.depositAddress),
    orderId: signed.orderId,
    verified: signed.verified,
    expiresAt: expiresAtOf(signed.quote),
  }
}

/** When a quote's deposit window ends, Unix time in milliseconds. */
export function expiresAtOf({ depositDeadline }: Pick<Quote, 'depositDeadline'>): bigint {
  return BigInt(depositDeadline) * 1000n
}

function toQuoteMessage(quote: Quote): MessageInitShape<typeof QuoteSchema> {
  return {
    solver: toCachedChecksumAddress(quote.solver),
    user: toCachedChecksumAddress(quote.user),
    inputToken: toCachedChecksumAddress(quote.inputToken),
    inputAmount: quote.inputAmount.toString(),
    outputToken: toCachedChecksumAddress(quote.outputToken),
    outputAmount: quote.outputAmount.toString(),
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    outputChainId: BigInt(quote.outputChainId),
    depositDeadline: quote.depositDeadline,
    fillDeadline: quote.fillDeadline,
    nonce: quote.nonce.toString(),
  }
}
