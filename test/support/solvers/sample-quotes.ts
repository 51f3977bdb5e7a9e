import {
  ORDER_TYPES,
  type Quote,
  type QuoteRequest,
  type SignedQuote,
} from '../../../packages/protocol/src/quotes/quote.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Random } from '../random.js'

export const SOLVER: Address = '0x00000000000000000000000000000000000000a1'
export const USER: Address = '0x00000000000000000000000000000000000000b2'
export const INPUT_TOKEN: Address = '0x00000000000000000000000000000000000000c3'
export const OUTPUT_TOKEN: Address = '0x00000000000000000000000000000000000000d4'

/** A user's request to sell exactly 1000, with every field that a request can have. */
export const exactInput: Required<QuoteRequest> = {
  kind: 'FIRM',
  chainId: 1,
  inputToken: INPUT_TOKEN,
  outputToken: OUTPUT_TOKEN,
  orderType: 'EXACT_INPUT',
  amount: 1000n,
  user: USER,
  destinationChainId: 8453,
  depositMode: 'CONTRACT',
  depositDeadline: 1_800_000_300,
  fillDeadline: 1_800_000_420,
  minDepositDeadline: 1_800_000_060,
}

/** A user's request to buy exactly 1000. */
export const exactOutput: QuoteRequest = { ...exactInput, orderType: 'EXACT_OUTPUT' }

/** A signed quote that matches `exactInput`. */
export function signedQuote(changes: Partial<Quote> = {}): SignedQuote {
  const quote: Quote = {
    solver: SOLVER,
    user: USER,
    inputToken: INPUT_TOKEN,
    inputAmount: 1000n,
    outputToken: OUTPUT_TOKEN,
    outputAmount: 3000n,
    orderType: 'EXACT_INPUT',
    outputChainId: 8453,
    depositDeadline: exactInput.depositDeadline,
    fillDeadline: exactInput.fillDeadline,
    nonce: 7n,
    ...changes,
  }
  return { quote, signature: word(1), orderId: word(2), depositAddress: SOLVER }
}

/** A quote with any values that the contract's struct can have, with chain ids up to 2^53-1. */
export function randomQuote(random: Random): Quote {
  return {
    solver: random.hex(20),
    user: random.hex(20),
    inputToken: random.hex(20),
    inputAmount: random.uint256(),
    outputToken: random.hex(20),
    outputAmount: random.uint256(),
    orderType: random.pick(ORDER_TYPES),
    outputChainId: random.integer(1, Number.MAX_SAFE_INTEGER),
    depositDeadline: random.integer(0, 2 ** 32 - 1),
    fillDeadline: random.integer(0, 2 ** 32 - 1),
    nonce: random.uint256(),
  }
}

function word(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}
