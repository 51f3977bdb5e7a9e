import type { Address } from 'viem'
import {
  DEPOSIT_MODES,
  type DepositMode,
  ORDER_TYPES,
  type OrderType,
  type SignedQuote,
} from '../../../src/domain/quote.js'
import {
  readAddress,
  readBytes32,
  readHex,
  readInteger,
  readList,
  readMessage,
  readText,
  readUint256,
} from './answer-fields.js'
import { addressProblem, amountProblem, chainIdProblem, check, choiceProblem } from './arguments.js'
import { UnreadableAnswer } from './errors.js'
import type { Messages } from './messages.js'

/** The swap that a user asks for. */
export interface QuoteParams {
  /** Chain of the deposit and of the solvers. */
  readonly chainId: number
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  /** Amount of the fixed side, input for EXACT_INPUT, output for EXACT_OUTPUT, in the token's smallest unit. */
  readonly amount: bigint
  readonly user: Address
  /** Chain of the output; that of the deposit when left out. */
  readonly destinationChainId?: number
  readonly depositMode: DepositMode
  /** Length of the deposit window in seconds, 1 to 86400; that of the instance when left out. */
  readonly depositWindow?: number
}

/** The answer to a quote request: the best offer, and the others, best first. A user can take each of them. */
export interface QuoteAnswer {
  /** Names the record of how the answer came about. */
  readonly quoteId: string
  readonly best: SignedQuote
  readonly alternatives: readonly SignedQuote[]
}

/** Makes the body of a quote request. @throws AggregatorError INVALID_ARGUMENT */
export function toQuoteBody(params: QuoteParams): Omit<Messages['GetQuoteRequest'], 'chainId'> {
  const { chainId, inputToken, outputToken, orderType, amount, user, depositMode, depositWindow } = params
  check({
    chainId: chainIdProblem(chainId),
    inputToken: addressProblem(inputToken),
    outputToken: addressProblem(outputToken),
    orderType: choiceProblem(ORDER_TYPES, orderType),
    amount: amountProblem(amount),
    user: addressProblem(user),
    depositMode: choiceProblem(DEPOSIT_MODES, depositMode),
  })
  return {
    inputToken,
    outputToken,
    orderType,
    amount: amount.toString(),
    userAddress: user,
    originChainId: chainId,
    destinationChainId: params.destinationChainId ?? chainId,
    depositMode,
    ...(depositWindow === undefined ? {} : { depositWindow }),
  }
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

function readSignedQuote(answer: unknown): SignedQuote {
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
  }
}

/** Reads an order type by its number on the contract. */
function readOrderType(value: unknown): OrderType {
  const orderType = ORDER_TYPES[readInteger(value)]
  if (orderType === undefined) throw new UnreadableAnswer(`order type ${value}`)
  return orderType
}
