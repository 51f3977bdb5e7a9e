import { recoverTypedDataAddress } from 'viem'
import { type DropReason, HALF_ORDER } from '../../../protocol/src/quotes/offer.js'
import type { SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { identifyOffer, typedQuote } from './offer-identity.js'
import {
  checkTake,
  isSame,
  problemsIn,
  type TakeOptions,
  type TakeProblem,
  takeProblems,
} from './offer-limits.js'
import { findStateProblems, SPARE_SECONDS, type StateProblem } from './offer-state.js'
import type { SettlementTerms } from './settlement-terms.js'

/** A problem of an offer. */
export type QuoteProblem =
  | Extract<DropReason, 'malformed' | 'amount_out_of_range' | `signature_${string}`>
  | StateProblem
  | TakeProblem
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
    super(`Do not take this quote: ${problems.join()}.`)
    this.problems = problems
  }
}

const TWO_DAYS_SECONDS = 172_800

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
 * @throws TypeError before any call for options without limits, of two modes, or with times that are no numbers; QuoteVerificationError with the problems; ChainReadError when the node does not answer. The error of a node, in
 *   whatever wording, never counts as the answer that the contract lacks a view
 */
export async function verifyQuote(offer: SignedQuote, options: VerifyQuoteOptions): Promise<void> {
  const mode = checkTake(options)
  const {
    minSecondsLeft = SPARE_SECONDS[mode],
    maxLockSeconds = TWO_DAYS_SECONDS,
    now = Date.now() / 1000,
  } = options
  for (const seconds of [minSecondsLeft, maxLockSeconds, now])
    if (typeof seconds !== 'number') throw new TypeError('times must be numbers')
  const { quote } = offer
  const own: QuoteProblem[] = [
    ...takeProblems(quote, options, mode, options.chainId),
    ...problemsIn({
      amount_out_of_range: quote.inputAmount <= 0n || quote.outputAmount <= 0n,
      deposit_deadline_passed: quote.depositDeadline < now,
      fill_deadline_too_far: !(quote.fillDeadline <= now + maxLockSeconds),
    }),
    ...(await judgeIdentity(offer, options)),
  ]
  // An offer with a problem of its own needs no reads.
  const problems = own.length > 0 ? own : await findStateProblems(quote, options, minSecondsLeft, now)
  if (problems.length > 0) throw new QuoteVerificationError(problems)
}

/**
 * Checks the order id, the deposit address and the signature (docs/decisions.md, D4), as strictly as OpenZeppelin's ECDSA
 * (docs/protocol.md, "Signatures").
 */
async function judgeIdentity(offer: SignedQuote, terms: SettlementTerms): Promise<QuoteProblem[]> {
  const { quote, signature } = offer
  try {
    const { orderId, depositAddress } = identifyOffer(quote, signature, terms)
    const signed = { domain: terms.domain, ...typedQuote(quote, terms.protocolName), signature }
    // Not every r and s belong to a point of the curve: such bytes are not a signature.
    const signer = await recoverTypedDataAddress(signed).catch(() => undefined)
    return problemsIn({
      signature_length: signature.length !== 132,
      signature_v: !/1[bc]$/i.test(signature),
      signature_high_s: BigInt(`0x0${signature.slice(66, 130)}`) > HALF_ORDER,
      signature_mismatch: !isSame(signer, quote.solver),
      order_id_mismatch: !isSame(offer.orderId, orderId),
      deposit_address_mismatch: !isSame(offer.depositAddress, depositAddress),
    })
  } catch {
    // A member does not fit its type, or the signature is no hex.
    return ['malformed']
  }
}
