import type { LedgerQuote } from '../risk/quote-ledger.js'

/** What a look at the chain says of a quote whose nonce is unused. */
export interface EndFacts {
  /** The chain's time, Unix seconds. */
  readonly time: number
  /** What the deposit address has of the input token. */
  readonly balance: bigint
  /** The order may still be paid, and a simulated `settle` succeeds. */
  readonly canSettle: boolean
  /** The contract keeps, or may keep, tokens at the address of a cancelled quote. */
  readonly keepsTokens: boolean
  /** It is small, and the market maker does not want it cancelled. */
  readonly isSpared: boolean
}

/** From this part of the input on, tokens at an address are those of a user who pays. */
const PAID_PART = { numerator: 9n, denominator: 10n }

/**
 * When a quote must be ended, by the chain's time: after its deposit deadline, when no deposit by a call can come any more. One whose
 * tokens lie at its address is left to its payment until the middle of the fill window.
 * @returns Unix seconds
 */
export function endsAfter({ quote, deposit }: Pick<LedgerQuote, 'quote' | 'deposit'>): number {
  const { depositDeadline, fillDeadline } = quote
  return deposit === 'NONE' ? depositDeadline : depositDeadline + (fillDeadline - depositDeadline) / 2
}

/**
 * Decides how a quote without a deposit at the contract ends (docs/decisions.md, D23).
 * @returns `PAY` when its order is to be paid; `CANCEL` when its nonce is to be used up; `KEEP` when neither
 */
export function decideEnd(
  { quote, isForAddress }: Pick<LedgerQuote, 'quote' | 'isForAddress'>,
  facts: EndFacts,
): 'PAY' | 'CANCEL' | 'KEEP' {
  const { time, balance, keepsTokens, isSpared } = facts
  if (facts.canSettle && balance >= quote.inputAmount) return 'PAY'
  if (isForAddress && keepsTokens) {
    // A cancellation would take these tokens from the user, for good.
    if (balance * PAID_PART.denominator >= quote.inputAmount * PAID_PART.numerator) return 'KEEP'
    // A transfer may be on its way.
    if (time <= quote.depositDeadline) return 'KEEP'
  }
  return isSpared ? 'KEEP' : 'CANCEL'
}
