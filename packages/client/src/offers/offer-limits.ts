import { modeOfNonce } from '../../../protocol/src/quotes/nonce-mode.js'
import type { DropReason } from '../../../protocol/src/quotes/offer.js'
import { DEPOSIT_MODES, type DepositMode, type Quote } from '../../../protocol/src/quotes/quote.js'
import type { QuoteParams } from '../quotes/get-quote.js'

/** The worst offer that a user takes, whatever its order type. Both are above 0, in the token's smallest unit. */
export interface OfferLimits {
  /** The most that the user gives. */
  readonly maxInputAmount: bigint
  /** The least that the user gets. */
  readonly minOutputAmount: bigint
}

/** What an offer is taken for. */
export interface TakeOptions {
  /** A person's are those of the offer that the page showed (`limitsOf`); a program's come from a source that is not the instance. */
  readonly limits: OfferLimits
  /** The request, when the quote must match it. */
  readonly params?: QuoteParams | undefined
  /** That of `params`, and CONTRACT without them, when left out. */
  readonly depositMode?: DepositMode | undefined
}

/** A problem of an offer with what it is taken for, and terms that no contract takes. */
export type TakeProblem =
  | Extract<
      DropReason,
      | 'user_mismatch'
      | 'input_token_mismatch'
      | 'output_token_mismatch'
      | 'order_type_mismatch'
      | 'output_chain_mismatch'
      | 'fixed_amount_mismatch'
    >
  | 'price_too_bad'
  | 'mode_mismatch'
  | 'chain_mismatch'
  | 'equal_tokens'
  | 'fill_deadline_too_early'

/** The limits of a person who has seen this offer: it is taken as it is. */
export function limitsOf({ inputAmount, outputAmount }: Quote): OfferLimits {
  return { maxInputAmount: inputAmount, minOutputAmount: outputAmount }
}

/** The deposit mode that an offer is taken for. @throws TypeError for options that do not say it, or that have no limits */
export function checkTake({
  limits,
  params,
  depositMode = params?.depositMode ?? 'CONTRACT',
}: TakeOptions): DepositMode {
  const { maxInputAmount, minOutputAmount } = Object(limits)
  for (const limit of [maxInputAmount, minOutputAmount])
    if (typeof limit !== 'bigint' || limit <= 0n) throw new TypeError('limits must be bigints above 0')
  if (!DEPOSIT_MODES.includes(depositMode) || (params && params.depositMode !== depositMode))
    throw new TypeError('depositMode differs from params')
  return depositMode
}

/**
 * The problems of a quote with what it is taken for (docs/decisions.md, D31; docs/decisions.md, D32), and terms for which a deployed contract keeps a
 * transfer for good: it pays on its own chain only, and refuses equal deadlines.
 */
export function takeProblems(
  quote: Quote,
  { limits, params }: TakeOptions,
  mode: DepositMode,
  chainId: number,
): TakeProblem[] {
  const fixedAmount = quote[params?.orderType === 'EXACT_INPUT' ? 'inputAmount' : 'outputAmount']
  // Without a request, a quote is what was asked for.
  const asked: Omit<QuoteParams, 'depositMode'> = { ...quote, chainId, amount: fixedAmount, ...params }
  return problemsIn({
    price_too_bad: quote.inputAmount > limits.maxInputAmount || quote.outputAmount < limits.minOutputAmount,
    mode_mismatch: mode === 'ADDRESS' && modeOfNonce(quote.nonce) === 'CONTRACT',
    chain_mismatch: asked.chainId !== chainId,
    user_mismatch: !isSame(quote.user, asked.user),
    input_token_mismatch: !isSame(quote.inputToken, asked.inputToken),
    output_token_mismatch: !isSame(quote.outputToken, asked.outputToken),
    order_type_mismatch: quote.orderType !== asked.orderType,
    fixed_amount_mismatch: fixedAmount !== asked.amount,
    output_chain_mismatch:
      quote.outputChainId !== chainId || (asked.destinationChainId ?? chainId) !== chainId,
    equal_tokens: isSame(quote.inputToken, quote.outputToken),
    fill_deadline_too_early: quote.fillDeadline <= quote.depositDeadline,
  })
}

/** Whether two texts are the same bytes, in any letter case. */
export function isSame(a: string | undefined, b: string): boolean {
  return `${a}`.toLowerCase() === `${b}`.toLowerCase()
}

/** The problems that there are. */
export function problemsIn<P extends string>(checks: Readonly<Record<P, boolean>>): P[] {
  return (Object.keys(checks) as P[]).filter((problem) => checks[problem])
}
