import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Address } from 'viem'
import {
  DepositMode as DepositModeNumber,
  type GetQuoteRequestSchema,
  type GetQuoteResponse,
  OrderType as OrderTypeNumber,
  type SignedQuote as SignedQuoteMessage,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { type DepositMode, ORDER_TYPES, type OrderType, type SignedQuote } from '../../../src/domain/quote.js'
import {
  readAddress,
  readBytes32,
  readChoice,
  readHex,
  readInteger,
  readPresent,
  readUint256,
} from './answer-fields.js'

/** The swap that a user asks for. */
export interface Ask {
  /** Chain of the deposit, and of the solvers that are asked. */
  readonly chainId: number
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  /** Amount of the fixed side, input for EXACT_INPUT, output for EXACT_OUTPUT, in the token's smallest unit. */
  readonly amount: bigint
  readonly user: Address
  /** Chain on which the output is paid; that of the deposit when left out. */
  readonly destinationChainId?: number
  readonly depositMode: DepositMode
  /** Length of the deposit window in seconds, 1 to 86400; the instance's own when left out. */
  readonly depositWindow?: number
}

/** The answer to an ask: the best offer, and the others, the better first. Each can be used as it is. */
export interface QuoteAnswer {
  /** Names the record of how the answer came about. */
  readonly quoteId: string
  readonly best: SignedQuote
  readonly alternatives: readonly SignedQuote[]
}

const ORDER_TYPE_NUMBERS = {
  EXACT_INPUT: OrderTypeNumber.EXACT_INPUT,
  EXACT_OUTPUT: OrderTypeNumber.EXACT_OUTPUT,
} as const
const DEPOSIT_MODE_NUMBERS = {
  CONTRACT: DepositModeNumber.CONTRACT,
  ADDRESS: DepositModeNumber.ADDRESS,
} as const

/** An ask as its message. */
export function toQuoteMessage(ask: Ask): MessageInitShape<typeof GetQuoteRequestSchema> {
  return {
    chainId: BigInt(ask.chainId),
    inputToken: ask.inputToken,
    outputToken: ask.outputToken,
    orderType: ORDER_TYPE_NUMBERS[ask.orderType],
    amount: ask.amount.toString(),
    userAddress: ask.user,
    originChainId: BigInt(ask.chainId),
    destinationChainId: BigInt(ask.destinationChainId ?? ask.chainId),
    depositMode: DEPOSIT_MODE_NUMBERS[ask.depositMode],
    ...(ask.depositWindow === undefined ? {} : { depositWindow: ask.depositWindow }),
  }
}

/** Reads the answer to an ask. @throws AggregatorError ANSWER_INVALID */
export function readQuoteAnswer(answer: GetQuoteResponse): QuoteAnswer {
  return {
    quoteId: answer.quoteId,
    best: readSignedQuote(answer),
    alternatives: answer.alternativeQuotes.map(readSignedQuote),
  }
}

function readSignedQuote(
  message: Pick<SignedQuoteMessage, 'quote' | 'solverSignature' | 'depositAddress' | 'orderId'>,
): SignedQuote {
  const quote = readPresent(message.quote, 'a quote')
  return {
    quote: {
      solver: readAddress(quote.solver),
      user: readAddress(quote.user),
      inputToken: readAddress(quote.inputToken),
      inputAmount: readUint256(quote.inputAmount),
      outputToken: readAddress(quote.outputToken),
      outputAmount: readUint256(quote.outputAmount),
      orderType: readChoice({ ...ORDER_TYPES }, quote.orderType),
      outputChainId: readInteger(quote.outputChainId),
      depositDeadline: quote.depositDeadline,
      fillDeadline: quote.fillDeadline,
      nonce: readUint256(quote.nonce),
    },
    signature: readHex(message.solverSignature),
    orderId: readBytes32(message.orderId),
    depositAddress: readAddress(message.depositAddress),
  }
}
