import { type Hex, isAddress } from 'viem'
import * as z from 'zod'
import type { SignedQuote } from '../../client/src/index.js'
import { MAX_UINT256 } from '../../protocol/src/field-rules.js'
import { ORDER_TYPES } from '../../protocol/src/quotes/quote.js'
import texts from './texts.json' with { type: 'json' }

const { fields } = texts

/** What tools take and give. Amounts are decimal strings in the token's smallest unit. A checksum that is wrong is a typing error. */

export const chainId = z.int().positive()

const hexOf = (digits: string, words: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]${digits}$`), `must be ${words} in hex with 0x`)
    .transform((text) => text as Hex)

export const hex = hexOf('*', 'bytes')
export const orderId = hexOf('{64}', '32 bytes')
export const address = hexOf('{40}', 'an address: 20 bytes').refine(
  (text) => isAddress(text),
  'must be an address whose checksum is right, or in lower case',
)

const whole = z
  .string()
  .regex(/^[0-9]{1,78}$/, { error: 'must be a whole number, in decimal digits', abort: true })
  .transform(BigInt)

export const amount = whole
  .refine((units) => units > 0n && units <= MAX_UINT256, 'must be 1 to 2^256-1')
  .describe(fields.amount)

const seconds = z.int().nonnegative().describe(fields.seconds)

export const userAddress = address.describe(fields.userAddress)

/** A swap without its user. */
export const swap = {
  chainId,
  inputToken: address.describe(fields.inputToken),
  outputToken: address.describe(fields.outputToken),
  orderType: z.enum(ORDER_TYPES).describe(fields.orderType),
  amount,
}

/** The struct that a solver has signed, as `get_quote` gives it. */
export const quote = z.strictObject({
  solver: address,
  user: address,
  inputToken: address,
  inputAmount: whole,
  outputToken: address,
  outputAmount: whole,
  orderType: z.enum(ORDER_TYPES),
  outputChainId: chainId,
  depositDeadline: seconds,
  fillDeadline: seconds,
  nonce: whole,
}) satisfies z.ZodType<SignedQuote['quote']>

/** An offer, and the limits of the user. */
export const offer = {
  chainId,
  quote: quote.describe(fields.quote),
  solverSignature: hex.describe(fields.solverSignature),
  maxInputAmount: amount.describe(fields.maxInputAmount),
  minOutputAmount: amount.describe(fields.minOutputAmount),
}

/** Rows of a list. */
export const rows = z.array(z.looseObject({}))
