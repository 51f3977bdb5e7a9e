import type { Quote } from '../../../protocol/src/quotes/quote.js'
import type { AskedQuote, LedgerQuote } from '../risk/quote-ledger.js'

/** Unix seconds. */
type QuoteTimes = Pick<Quote, 'depositDeadline' | 'fillDeadline'>

/** What decides about the time of a quote's end. */
export interface OpenQuote extends Pick<LedgerQuote, 'deposit' | 'isForAddress'> {
  readonly quote: QuoteTimes
}

/** From this part of the input on, tokens at an address are those of a user who pays. */
const PAID_PART = { numerator: 9n, denominator: 10n }

/** The time to find tokens at an address before a deadline until which they are paid for. */
const LAST_SECONDS = 60

/** The middle of the fill window: whatever is not paid until then is ended, so that time is left to repeat it. Unix seconds. */
export function middleOf({ depositDeadline, fillDeadline }: QuoteTimes): number {
  return depositDeadline + Math.floor((fillDeadline - depositDeadline) / 2)
}

/** Whether a quote is not paid at its address, as its nonce is being used up: unless that takes until the middle of its fill window. */
export const isLeftToCancellation = (entry: LedgerQuote | undefined, time: number) =>
  entry?.isCancelling === true && time <= middleOf(entry.quote)

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
 * Whether a quote that cannot be paid is kept, as a cancellation would take tokens from a user, for good (docs/decisions.md, D32). A
 * quote that was told CONTRACT is ended whatever lies at its address, so that the market maker can cancel it at any time: its nonce
 * tells the user's client.
 * @param time that of a block which came now, Unix seconds
 * @param balance what the deposit address has of the input token
 * @param keepsTokens the contract keeps, or may keep, tokens at the address of a cancelled quote
 */
export function isKept(
  { quote, isForAddress }: AskedQuote,
  time: number,
  balance: bigint,
  keepsTokens: boolean,
): boolean {
  if (!isForAddress || !keepsTokens) return false
  // A transfer may be on its way.
  if (time <= middleOf(quote)) return true
  return balance * PAID_PART.denominator >= quote.inputAmount * PAID_PART.numerator
}
