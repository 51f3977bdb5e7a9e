import type { Address, Hex } from 'viem'
import { QUOTE_OPTION_RULES, type QuoteOptions } from '../../../protocol/src/field-rules.js'
import {
  DEPOSIT_MODES,
  type DepositMode,
  ORDER_TYPES,
  type OrderType,
  type Quote,
  type SignedQuote,
  type Swap,
} from '../../../protocol/src/quotes/quote.js'
import { UnreadableAnswer } from '../calls/aggregator-error.js'
import {
  messageReader,
  optional,
  type Reader,
  type Readers,
  readAddress,
  readBoolean,
  readBytes32,
  readHex,
  readInteger,
  readList,
  readMessage,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import {
  addressProblem,
  amountProblem,
  type Checks,
  chainIdProblem,
  check,
  choiceProblem,
  type OptionRule,
  optionProblem,
} from '../calls/check-arguments.js'
import type { Messages } from '../calls/message-types.js'
import type { OfferIdentity } from '../offers/offer-identity.js'

/** A swap without its user. */
export interface PriceParams extends Swap, Pick<QuoteOptions, 'minDepositWindow'> {}

/** The swap that a user asks for. */
export interface QuoteParams extends PriceParams, QuoteOptions {
  readonly user: Address
  /** Chain of the output; that of the deposit when left out. */
  readonly destinationChainId?: number
  readonly depositMode: DepositMode
}

/** The answer to a quote request: the best offer, and the others, best first. A user can take each of them. */
export interface QuoteAnswer {
  /** Names the record of how the answer came about. Undefined at another instance of the protocol that keeps none. */
  readonly quoteId: string | undefined
  readonly best: SignedQuote
  readonly alternatives: readonly SignedQuote[]
}

/**
 * Makes the body of a quote request.
 * @param rules of the fields that may be left out
 * @throws AggregatorError INVALID_ARGUMENT
 */
export function toQuoteBody(
  params: QuoteParams,
  rules: Readonly<Record<string, OptionRule>> = QUOTE_OPTION_RULES,
): Omit<Messages['GetQuoteRequest'], 'chainId'> {
  const { chainId, user, depositMode } = params
  const given = params as QuoteParams & Readonly<Record<string, unknown>>
  const options = Object.entries(rules)
  check({
    // With a misspelt key, the offer would be one that nobody asked for.
    ...Object.fromEntries(Object.keys(params).map((name) => [name, 'is not a parameter'])),
    ...swapProblems(params),
    user: addressProblem(user),
    // The instance knows on which it pays.
    destinationChainId: undefined,
    depositMode: choiceProblem(DEPOSIT_MODES, depositMode),
    ...Object.fromEntries(options.map(([name, rule]) => [name, optionProblem(rule, given[name])])),
  })
  return {
    ...toSwapBody(params),
    userAddress: user,
    originChainId: chainId,
    destinationChainId: params.destinationChainId ?? chainId,
    depositMode,
    // JSON leaves out those that are undefined.
    ...Object.fromEntries(options.map(([name]) => [name, given[name]])),
  }
}

/** Makes the body of a price request. @throws AggregatorError INVALID_ARGUMENT */
export function toPriceBody(params: PriceParams): Omit<Messages['GetPriceRequest'], 'chainId'> {
  const { minDepositWindow } = params
  const problem = optionProblem(QUOTE_OPTION_RULES.minDepositWindow, minDepositWindow)
  check({ ...swapProblems(params), minDepositWindow: problem })
  return { ...toSwapBody(params), minDepositWindow }
}

function swapProblems({ chainId, inputToken, outputToken, orderType, amount }: PriceParams): Checks {
  return {
    chainId: chainIdProblem(chainId),
    inputToken: addressProblem(inputToken),
    outputToken: addressProblem(outputToken),
    orderType: choiceProblem(ORDER_TYPES, orderType),
    amount: amountProblem(amount),
  }
}

function toSwapBody({ inputToken, outputToken, orderType, amount }: PriceParams) {
  return { inputToken, outputToken, orderType, amount: amount.toString() }
}

/** Computes what an offer of another instance of the protocol lacks. @returns undefined when it cannot */
type Identify = (quote: Quote, signature: Hex) => OfferIdentity | undefined

/** Reads the answer to a quote request. @throws UnreadableAnswer */
export function readQuoteAnswer(answer: unknown, identify: Identify): QuoteAnswer {
  const message = readMessage<'GetQuoteResponse'>(answer)
  return {
    quoteId: optional(readText)(message.quoteId),
    best: readSignedQuote(message, identify),
    alternatives: readList(message.alternativeQuotes)
      // Other instances keep the signatures back.
      .filter((offer) => readMessage<'SignedQuote'>(offer).solverSignature !== '')
      .map((offer) => readSignedQuote(offer, identify)),
  }
}

/** Reads an offer. @throws UnreadableAnswer */
export function readSignedQuote(answer: unknown, identify: Identify): SignedQuote {
  const message = readMessage<'SignedQuote'>(answer)
  const quote = readQuote(message.quote)
  const signature = readHex(message.solverSignature)
  const isWhole = message.orderId !== undefined && message.depositAddress !== undefined
  const computed = isWhole ? undefined : identify(quote, signature)
  if (!isWhole && computed === undefined)
    throw new UnreadableAnswer('an offer without an order id, which needs the option identifyOffer')
  return {
    quote,
    signature,
    orderId: readBytes32(message.orderId ?? computed?.orderId),
    depositAddress: readAddress(message.depositAddress ?? computed?.depositAddress),
    ...(optional(readBoolean)(message.verified) && { verified: true }),
  }
}

const QUOTE = {
  solver: readAddress,
  user: readAddress,
  inputToken: readAddress,
  inputAmount: readUint256,
  outputToken: readAddress,
  outputAmount: readUint256,
  orderType: readOrderType,
  outputChainId: readInteger,
  depositDeadline: readInteger,
  fillDeadline: readInteger,
  nonce: readUint256,
} satisfies Readers<'Quote'>

const readQuote: Reader<Quote> = messageReader(QUOTE)

/** Reads an order type by its number on the contract. */
function readOrderType(value: unknown): OrderType {
  const orderType = ORDER_TYPES[readInteger(value)]
  if (orderType === undefined) throw new UnreadableAnswer(`order type ${value}`)
  return orderType
}
