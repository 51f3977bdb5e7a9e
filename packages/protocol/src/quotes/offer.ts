import type { Address, Hex } from '../values/hex.js'
import { parseUint256 } from '../values/text.js'
import {
  type Offer,
  ORDER_TYPES,
  type OrderType,
  QUOTE_MEMBERS,
  type Quote,
  type QuoteRequest,
  type SignedQuote,
} from './quote.js'

/** Why a reply is worthless: a field does not match the request, or the contract rejects it (docs/decisions.md, D4, D13). */
export type DropReason =
  | 'malformed'
  | 'solver_mismatch'
  | 'user_mismatch'
  | 'input_token_mismatch'
  | 'output_token_mismatch'
  | 'order_type_mismatch'
  | 'output_chain_mismatch'
  | 'deposit_deadline_mismatch'
  | 'fill_deadline_mismatch'
  | 'fixed_amount_mismatch'
  | 'amount_out_of_range'
  | 'nonce_out_of_range'
  | 'signature_length'
  | 'signature_v'
  | 'signature_high_s'
  | 'signature_mismatch'
  | 'bond_too_small'
  | 'below_minimum_order'
  | 'nonce_used'

/** Half of the order of secp256k1: a signature has two values of `s`, and contracts take the lower one only (EIP-2). */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Amounts as a solver wrote them, in range or not; absent when they are not decimal digits (docs/decisions.md, D15). */
export interface AnsweredAmounts {
  readonly inputAmount?: string | undefined
  readonly outputAmount?: string | undefined
}

/** Up to 100 digits; 2^256-1 has 78. */
const DIGITS = /^[0-9]{1,100}$/
const HEX = /^0x[0-9a-fA-F]*$/

/**
 * Compares a solver's reply with the request (docs/decisions.md, D4, except the signature's own checks).
 * @param solver the registered solver that received the request
 * @param reply the parsed JSON body of the solver's reply
 * @returns the offer, whose signature is not checked yet, or the first reason to drop the reply
 */
export function checkOffer(request: QuoteRequest, solver: Address, reply: unknown): Offer | DropReason {
  if (!isRecord(reply) || !isRecord(reply.quote)) return 'malformed'
  const { quote, signature } = reply
  if (!isBytes(signature)) return 'malformed'

  const orderType = ORDER_TYPES.indexOf(request.orderType)
  if (!isAddress(quote.solver, solver)) return 'solver_mismatch'
  if (!isAddress(quote.user, request.user)) return 'user_mismatch'
  if (!isAddress(quote.inputToken, request.inputToken)) return 'input_token_mismatch'
  if (!isAddress(quote.outputToken, request.outputToken)) return 'output_token_mismatch'
  if (!isInteger(quote.orderType, orderType)) return 'order_type_mismatch'
  if (!isInteger(quote.outputChainId, request.destinationChainId)) return 'output_chain_mismatch'
  const { depositDeadline: latest, minDepositDeadline: earliest = latest } = request
  const depositDeadline = Number(quote.depositDeadline)
  const isWithin =
    depositDeadline >= earliest && depositDeadline <= latest && Number.isInteger(depositDeadline)
  if (!isWithin || !isInteger(quote.depositDeadline, depositDeadline)) return 'deposit_deadline_mismatch'
  const fillDeadline = depositDeadline + request.fillDeadline - latest
  if (!isInteger(quote.fillDeadline, fillDeadline)) return 'fill_deadline_mismatch'

  const inputAmount = parseUint256(quote.inputAmount)
  const outputAmount = parseUint256(quote.outputAmount)
  const fixedAmount = request.orderType === 'EXACT_INPUT' ? inputAmount : outputAmount
  if (fixedAmount !== request.amount) return 'fixed_amount_mismatch'
  if (!inputAmount || !outputAmount) return 'amount_out_of_range'
  const nonce = parseUint256(quote.nonce)
  if (nonce === undefined) return 'nonce_out_of_range'

  const { user, inputToken, outputToken } = request
  return {
    quote: {
      solver,
      user,
      inputToken,
      inputAmount,
      outputToken,
      outputAmount,
      orderType: request.orderType,
      outputChainId: request.destinationChainId,
      depositDeadline,
      fillDeadline,
      nonce,
    },
    signature: signature.toLowerCase() as Hex,
  }
}

/** The part of a reply that is read here. The rest may be much longer. */
export function readPartOf(reply: unknown): unknown {
  if (!isRecord(reply) || !isRecord(reply.quote)) return undefined
  const { quote, signature } = reply
  return { quote: Object.fromEntries(QUOTE_MEMBERS.map(({ name }) => [name, quote[name]])), signature }
}

/** The amounts of a reply as the solver wrote them, for the quote's record. */
export function amountsOf(reply: unknown): AnsweredAmounts | undefined {
  if (!isRecord(reply) || !isRecord(reply.quote)) return undefined
  const { inputAmount, outputAmount } = reply.quote
  return { inputAmount: amountText(inputAmount), outputAmount: amountText(outputAmount) }
}

function amountText(value: unknown): string | undefined {
  return typeof value === 'string' && DIGITS.test(value) ? value : undefined
}

/**
 * Sorts the best offer first: most output for EXACT_INPUT, least input for EXACT_OUTPUT. Equal offers keep their order.
 * @param offers offers for one request, in the order of their arrival
 */
export function rank(offers: readonly SignedQuote[]): SignedQuote[] {
  return [...offers].sort((a, b) => Number(advantageOf(b.quote, a.quote)))
}

/** Whether a user gets more for less by an offer than by another one for the same request. */
export function isBetter(offer: SignedQuote, other: SignedQuote): boolean {
  return advantageOf(offer.quote, other.quote) > 0n
}

function advantageOf(quote: Quote, other: Quote): bigint {
  const side = competedSide(quote.orderType)
  return advantage(side === 'outputAmount', quote[side], other[side])
}

/**
 * By how much an amount of the side that solvers compete on is better for a user than another one; below 0 when it is worse.
 * @param isOutput whether they compete on the output
 */
export function advantage(isOutput: boolean, amount: bigint, than: bigint): bigint {
  return isOutput ? amount - than : than - amount
}

/** The side of a quote that solvers compete on: the request fixes the other one. */
export function competedSide(orderType: OrderType): 'inputAmount' | 'outputAmount' {
  return orderType === 'EXACT_INPUT' ? 'outputAmount' : 'inputAmount'
}

/** How much worse an amount of the side that solvers compete on is than the best one, in basis points of that, to a hundredth. */
export function gapOf(orderType: OrderType, own: bigint, best: bigint): number {
  const difference = advantage(orderType === 'EXACT_INPUT', best, own)
  return Number((difference * 1_000_000n) / best) / 100
}

/** How much worse an offer is than the best one, in basis points of the amount that is not fixed; below 0 for a better one. */
export function gapBps(quote: Quote, best: Quote): number {
  const side = competedSide(quote.orderType)
  return gapOf(quote.orderType, quote[side], best[side])
}

/** Output by input, in the smallest units of their tokens. */
export function rateOf({ quote }: Offer): number {
  return Number(quote.outputAmount) / Number(quote.inputAmount)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isBytes(value: unknown): value is Hex {
  return typeof value === 'string' && value.length % 2 === 0 && HEX.test(value)
}

/** Whether `value` is the address in any letter case. The prefix `0X` is not accepted. */
function isAddress(value: unknown, expected: Address): boolean {
  if (value === expected) return true
  return typeof value === 'string' && value[1] === 'x' && value.toLowerCase() === expected
}

/** Solvers write small integers as numbers or as decimal strings. Both are accepted. */
function isInteger(value: unknown, expected: number): boolean {
  return value === expected || value === String(expected)
}
