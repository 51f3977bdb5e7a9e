import { type Address, type Hex, hashTypedData, recoverAddress } from 'viem'
import { type DropReason, HALF_ORDER } from '../../../protocol/src/quotes/offer.js'
import type { Quote, SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { DAY_SECONDS } from '../../../protocol/src/values/time.js'
import type { QuoteParams } from '../quotes/get-quote.js'
import { identifyOffer, typedQuote } from './offer-identity.js'
import { checkTake, type LimitProblem, limitProblems, problemsIn, type TakeOptions } from './offer-limits.js'
import { findStateProblems, SPARE_SECONDS, type StateProblem } from './offer-state.js'
import type { SettlementTerms } from './settlement-terms.js'

/** A problem of an offer. */
export type QuoteProblem =
  | Extract<
      DropReason,
      | 'malformed'
      | 'user_mismatch'
      | 'input_token_mismatch'
      | 'output_token_mismatch'
      | 'order_type_mismatch'
      | 'fixed_amount_mismatch'
      | 'amount_out_of_range'
      | `signature_${string}`
    >
  | StateProblem
  | LimitProblem
  | 'chain_mismatch'
  | 'equal_tokens'
  | 'deposit_deadline_passed'
  | 'fill_deadline_too_far'
  | 'order_id_mismatch'
  | 'deposit_address_mismatch'

export interface VerifyQuoteOptions extends SettlementTerms, TakeOptions {
  /** The least time until the deposit deadline. When left out, 15 in mode CONTRACT, and 120 for a transfer to a deposit address. */
  readonly minSecondsLeft?: number | undefined
  /** The longest time that the input may be locked when the solver does not fill, in seconds; two days when left out. */
  readonly maxLockSeconds?: number | undefined
  /** The clock: Unix time in seconds. */
  readonly now?: number
}

/** An offer that a user must not take. */
export class QuoteVerificationError extends Error {
  override readonly name = 'QuoteVerificationError'
  /** All problems of the signed offer. When it has none, all problems in the contract's state. */
  readonly problems: readonly QuoteProblem[]

  constructor(problems: readonly QuoteProblem[]) {
    super(`This quote must not be taken: ${problems.join(', ')}.`)
    this.problems = problems
  }
}

const TWO_DAYS_SECONDS = 2 * DAY_SECONDS

/**
 * Checks an offer against the request, against the constants of the settlement contract (`readSettlement`), and against the
 * contract's state in the latest block of the user's own node:
 * - the solver's signature, as strictly as the contract does, the order id and the deposit address;
 * - the terms: those of the request, within the limits, two different tokens, the destination chain, the deadlines;
 * - the deposit mode: a nonce of the kit of solvers says which one the solver was told;
 * - the state: enough time is left on the chain, the solver is registered, its free bond covers the order, the output reaches the contract's minimum, the
 *   nonce is unused. Bond and minimum are checked where the contract has the views `BOND_RESERVATION_BPS` and `MIN_ORDER`.
 *
 * The state may change before the deposit is mined. The function throws and returns nothing, so that it also protects a caller
 * that ignores its result.
 * @throws TypeError before any call for options without limits, or of two modes; QuoteVerificationError with the problems; ChainReadError when the node does not answer. The error of a node, in
 *   whatever wording, never counts as the answer that the contract lacks a view
 */
export async function verifyQuote(offer: SignedQuote, options: VerifyQuoteOptions): Promise<void> {
  const mode = checkTake(options)
  const { minSecondsLeft = SPARE_SECONDS[mode] } = options
  const { quote } = offer
  const problems: QuoteProblem[] = [
    ...limitProblems(quote, options, mode, options.chainId),
    ...judgeTerms(quote, options, minSecondsLeft),
    ...(await judgeIdentity(offer, options)),
  ]
  // An offer with a problem of its own needs no reads.
  if (problems.length === 0) problems.push(...(await findStateProblems(quote, options, minSecondsLeft)))
  if (problems.length > 0) throw new QuoteVerificationError(problems)
}

/** The problems of the terms, and their differences from the request where there is one. */
function judgeTerms(quote: Quote, options: VerifyQuoteOptions, minSecondsLeft: number): QuoteProblem[] {
  const { maxLockSeconds = TWO_DAYS_SECONDS, now = Date.now() / 1000, chainId } = options
  const fixedAmount = quote[options.params?.orderType === 'EXACT_INPUT' ? 'inputAmount' : 'outputAmount']
  // Without a request, a quote is what was asked for.
  const asked: Omit<QuoteParams, 'depositMode'> = {
    ...quote,
    chainId,
    amount: fixedAmount,
    ...options.params,
  }
  const secondsLeft = quote.depositDeadline - now
  return problemsIn({
    chain_mismatch: asked.chainId !== chainId,
    user_mismatch: !isSame(quote.user, asked.user),
    input_token_mismatch: !isSame(quote.inputToken, asked.inputToken),
    output_token_mismatch: !isSame(quote.outputToken, asked.outputToken),
    order_type_mismatch: quote.orderType !== asked.orderType,
    fixed_amount_mismatch: fixedAmount !== asked.amount,
    equal_tokens: isSame(quote.inputToken, quote.outputToken),
    amount_out_of_range: quote.inputAmount <= 0n || quote.outputAmount <= 0n,
    deposit_deadline_passed: secondsLeft < 0,
    deposit_deadline_too_near: secondsLeft >= 0 && !(secondsLeft >= minSecondsLeft),
    fill_deadline_too_far: !(quote.fillDeadline <= now + maxLockSeconds),
  })
}

/** Checks the signature, the order id and the deposit address (docs/decisions.md, D4). */
async function judgeIdentity(offer: SignedQuote, terms: SettlementTerms): Promise<QuoteProblem[]> {
  const { quote, signature } = offer
  const { protocolName, domain } = terms
  if (!/^0x([0-9a-f]{2})*$/i.test(signature)) return ['malformed']
  let digest: Hex
  try {
    digest = hashTypedData({ domain, ...typedQuote(quote, protocolName) })
  } catch {
    // A member does not fit its type.
    return ['malformed']
  }
  const { orderId, depositAddress } = identifyOffer(quote, signature, terms)
  return [
    ...(await judgeSignature(digest, signature, quote.solver)),
    ...problemsIn({
      order_id_mismatch: !isSame(offer.orderId, orderId),
      deposit_address_mismatch: !isSame(offer.depositAddress, depositAddress),
    }),
  ]
}

/** As strictly as OpenZeppelin's ECDSA (docs/protocol.md, "Signatures"). */
async function judgeSignature(digest: Hex, signature: Hex, signer: Address): Promise<QuoteProblem[]> {
  if (signature.length !== 132) return ['signature_length']
  if (!/1[bc]$/i.test(signature)) return ['signature_v']
  if (BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return ['signature_high_s']
  // Not every r and s belong to a point of the curve: such bytes are not a signature.
  const recovered = await recoverAddress({ hash: digest, signature }).catch(() => undefined)
  return isSame(recovered, signer) ? [] : ['signature_mismatch']
}

/** Whether two texts are the same bytes, in any letter case. */
function isSame(a: string | undefined, b: string): boolean {
  return `${a}`.toLowerCase() === `${b}`.toLowerCase()
}
