import { modeOfNonce } from '../../../protocol/src/quotes/nonce-mode.js'
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
export type LimitProblem =
  | 'price_too_bad'
  | 'mode_mismatch'
  | 'output_chain_mismatch'
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
    if (typeof limit !== 'bigint' || limit <= 0n) throw new TypeError('limits must be two bigints above 0')
  if (!DEPOSIT_MODES.includes(depositMode) || (params && params.depositMode !== depositMode))
    throw new TypeError('depositMode must be that of params')
  return depositMode
}

/**
 * The problems of a quote with the limits and the mode that it is taken for (docs/decisions.md, D31 and D32), and terms for which a
 * deployed contract keeps a transfer for good: it pays on its own chain only, and refuses equal deadlines.
 */
export function limitProblems(
  quote: Quote,
  { limits, params }: TakeOptions,
  mode: DepositMode,
  chainId: number,
): LimitProblem[] {
  const chains = [quote.outputChainId, params?.destinationChainId ?? chainId]
  return problemsIn({
    price_too_bad: quote.inputAmount > limits.maxInputAmount || quote.outputAmount < limits.minOutputAmount,
    mode_mismatch: mode === 'ADDRESS' && modeOfNonce(quote.nonce) === 'CONTRACT',
    output_chain_mismatch: chains.some((chain) => chain !== chainId),
    fill_deadline_too_early: quote.fillDeadline <= quote.depositDeadline,
  })
}

/** The problems that there are. */
export function problemsIn<P extends string>(checks: Readonly<Record<P, boolean>>): P[] {
  return (Object.keys(checks) as P[]).filter((problem) => checks[problem])
}
