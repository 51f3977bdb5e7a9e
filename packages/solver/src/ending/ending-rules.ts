import type { Quote } from '../../../protocol/src/quotes/quote.js'
import type { LedgerQuote } from '../risk/quote-ledger.js'

/** Unix seconds. */
export type QuoteTimes = Pick<Quote, 'depositDeadline' | 'fillDeadline'>

/** What decides about the time of a quote's end. */
export interface OpenQuote extends Pick<LedgerQuote, 'deposit' | 'isForAddress'> {
  readonly quote: QuoteTimes
}

/** What a look at the chain says of a quote whose nonce is unused. */
export interface EndFacts {
  /** That of a block which came now, Unix seconds. */
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

/** The time to find tokens at an address before a deadline until which they are paid for. */
const LAST_SECONDS = 60

/** The middle of the fill window: whatever is not paid until then is ended, so that time is left to repeat it. Unix seconds. */
export function middleOf({ depositDeadline, fillDeadline }: QuoteTimes): number {
  return depositDeadline + Math.floor((fillDeadline - depositDeadline) / 2)
}

/**
 * When a quote must be ended, by the chain's time: after its deposit deadline, when no deposit by a call can come any more. One for an
 * address is left to its payment until the middle of the fill window; where the contract keeps tokens, also to a transfer that is late.
 * @returns Unix seconds
 */
export function endsAfter({ quote, deposit, isForAddress }: OpenQuote, keepsTokens: boolean): number {
  return isForAddress && (keepsTokens || deposit !== 'NONE') ? middleOf(quote) : quote.depositDeadline
}

/** Whether tokens at an address can hardly be paid for later, where the contract keeps them: a node may not have shown their transfer. */
export function isLastPayment(
  { quote: { depositDeadline }, isForAddress, deposit }: OpenQuote,
  time: number,
): boolean {
  const isLast = time >= depositDeadline - LAST_SECONDS && time <= depositDeadline
  return isForAddress && deposit === 'NONE' && isLast
}

/**
 * Decides how a quote without a deposit at the contract ends (docs/decisions.md, D32). A quote that was told CONTRACT is ended
 * whatever lies at its address, so that the market maker can cancel it at any time: its nonce tells the user's client.
 * @returns `PAY` when its order is to be paid; `CANCEL` when its nonce is to be used up; `KEEP` when neither
 */
export function decideEnd(
  { quote, isForAddress }: Pick<LedgerQuote, 'quote' | 'isForAddress'>,
  facts: EndFacts,
): 'PAY' | 'CANCEL' | 'KEEP' {
  const { time, balance, keepsTokens, isSpared } = facts
  if (facts.canSettle && balance >= quote.inputAmount) return 'PAY'
  if (isForAddress && keepsTokens) {
    // A transfer may be on its way.
    if (time <= middleOf(quote)) return 'KEEP'
    // A cancellation would take these tokens from the user, for good.
    if (balance * PAID_PART.denominator >= quote.inputAmount * PAID_PART.numerator) return 'KEEP'
  }
  return isSpared ? 'KEEP' : 'CANCEL'
}
