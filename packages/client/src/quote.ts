import type { Address } from 'viem'
import { integerOf, MAX_QUOTE_TIMEOUT_MS, MIN_QUOTES } from '../../../src/domain/field-rules.js'
import {
  DEPOSIT_MODES,
  type DepositMode,
  ORDER_TYPES,
  type OrderType,
  type SignedQuote,
} from '../../../src/domain/quotes/quote.js'
import { VERIFY_MODES, type VerifyMode } from '../../../src/domain/quotes/verification.js'
import {
  readAddress,
  readBoolean,
  readBytes32,
  readHex,
  readInteger,
  readList,
  readMessage,
  readOptional,
  readText,
  readUint256,
} from './answer-fields.js'
import {
  addressProblem,
  amountProblem,
  type Checks,
  chainIdProblem,
  check,
  choiceProblem,
  integerProblem,
} from './arguments.js'
import { UnreadableAnswer } from './errors.js'
import type { Messages } from './messages.js'

/** An instance may allow less. */
const SOFT_DEADLINE_MS = integerOf(0, MAX_QUOTE_TIMEOUT_MS)

/** A swap without its user. */
export interface PriceParams {
  /** Chain of the deposit and of the solvers. */
  readonly chainId: number
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  /** Amount of the fixed side, input for EXACT_INPUT, output for EXACT_OUTPUT, in the token's smallest unit. */
  readonly amount: bigint
}

/** The swap that a user asks for. */
export interface QuoteParams extends PriceParams {
  readonly user: Address
  /** Chain of the output; that of the deposit when left out. */
  readonly destinationChainId?: number
  readonly depositMode: DepositMode
  /** Length of the deposit window in seconds, 1 to 86400; that of the instance when left out. */
  readonly depositWindow?: number
  /**
   * Time in milliseconds after which the round ends as soon as there are `minQuotes` valid offers; that of the instance when
   * left out.
   */
  readonly softDeadlineMs?: number
  /** Valid offers that must exist before the soft deadline ends the round, 1 to 1000; 1 when left out. */
  readonly minQuotes?: number
  /** Which offers the settlement contract checks; that of the instance when left out. An instance may allow less. */
  readonly verify?: VerifyMode
}

/** The answer to a quote request: the best offer, and the others, best first. A user can take each of them. */
export interface QuoteAnswer {
  /** Names the record of how the answer came about. */
  readonly quoteId: string
  readonly best: SignedQuote
  readonly alternatives: readonly SignedQuote[]
}

/**
 * Makes the body of a quote request.
 * @param moreChecks of further fields
 * @throws AggregatorError INVALID_ARGUMENT
 */
export function toQuoteBody(
  params: QuoteParams,
  moreChecks: Checks = {},
): Omit<Messages['GetQuoteRequest'], 'chainId'> {
  const { chainId, user, depositMode, depositWindow, softDeadlineMs, minQuotes, verify } = params
  check({
    ...swapProblems(params),
    user: addressProblem(user),
    depositMode: choiceProblem(DEPOSIT_MODES, depositMode),
    softDeadlineMs: integerProblem(SOFT_DEADLINE_MS, softDeadlineMs),
    minQuotes: integerProblem(MIN_QUOTES, minQuotes),
    verify: verify === undefined ? undefined : choiceProblem(VERIFY_MODES, verify),
    ...moreChecks,
  })
  return {
    ...toSwapBody(params),
    userAddress: user,
    originChainId: chainId,
    destinationChainId: params.destinationChainId ?? chainId,
    depositMode,
    ...(depositWindow === undefined ? {} : { depositWindow }),
    ...(softDeadlineMs === undefined ? {} : { softDeadlineMs }),
    ...(minQuotes === undefined ? {} : { minQuotes }),
    ...(verify === undefined ? {} : { verify }),
  }
}

/** Makes the body of a price request. @throws AggregatorError INVALID_ARGUMENT */
export function toPriceBody(params: PriceParams): Omit<Messages['GetPriceRequest'], 'chainId'> {
  check(swapProblems(params))
  return toSwapBody(params)
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

/** Reads the answer to a quote request. @throws UnreadableAnswer */
export function readQuoteAnswer(answer: unknown): QuoteAnswer {
  const message = readMessage<'GetQuoteResponse'>(answer)
  return {
    quoteId: readText(message.quoteId),
    best: readSignedQuote(message),
    alternatives: readList(message.alternativeQuotes).map(readSignedQuote),
  }
}

/** Reads an offer. @throws UnreadableAnswer */
export function readSignedQuote(answer: unknown): SignedQuote {
  const message = readMessage<'SignedQuote'>(answer)
  const quote = readMessage<'Quote'>(message.quote)
  return {
    quote: {
      solver: readAddress(quote.solver),
      user: readAddress(quote.user),
      inputToken: readAddress(quote.inputToken),
      inputAmount: readUint256(quote.inputAmount),
      outputToken: readAddress(quote.outputToken),
      outputAmount: readUint256(quote.outputAmount),
      orderType: readOrderType(quote.orderType),
      outputChainId: readInteger(quote.outputChainId),
      depositDeadline: readInteger(quote.depositDeadline),
      fillDeadline: readInteger(quote.fillDeadline),
      nonce: readUint256(quote.nonce),
    },
    signature: readHex(message.solverSignature),
    orderId: readBytes32(message.orderId),
    depositAddress: readAddress(message.depositAddress),
    ...(readOptional(message.verified, readBoolean) ? { verified: true } : {}),
  }
}

/** Reads an order type by its number on the contract. */
function readOrderType(value: unknown): OrderType {
  const orderType = ORDER_TYPES[readInteger(value)]
  if (orderType === undefined) throw new UnreadableAnswer(`order type ${value}`)
  return orderType
}
