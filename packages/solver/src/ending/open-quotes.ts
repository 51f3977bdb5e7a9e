import type { LedgerQuote } from '../risk/quote-ledger.js'
import type { EndingParts } from './quote-look.js'

/** The open quotes of a chain, by what is to become of them. */
export type OpenQuotes = ReturnType<typeof createOpenQuotes>

/** Builds it. @param isCancelling whether the cancellation of a nonce is under way */
export function createOpenQuotes(
  { chain, ledger, addresses, laterLooks }: EndingParts,
  isCancelling: (nonce: bigint) => boolean,
) {
  const bondOf = ({ quote }: LedgerQuote) => ledger.bondOf(quote)

  /**
   * The quotes that are not spared: `cancelAbove` keeps the first small ones open, so that free requests do not hold `maxOpenBond`. For a
   * day after a slash it keeps none, since whoever slashes one goes on with the next.
   */
  function notSpared(): LedgerQuote[] {
    let spared = addresses.wasSlashed() ? 0 : ledger.mostSpared(chain.cancelAbove)
    const isSpared = (entry: LedgerQuote) => bondOf(entry) <= chain.cancelAbove && spared-- > 0
    return [...ledger.quotes()].filter((entry) => entry.deposit !== 'CONTRACT' && !isSpared(entry))
  }

  /** The quotes that will be cancelled unless somebody takes them, but for those whose cancellation is under way. */
  function toCancel(): LedgerQuote[] {
    // Tokens that came late keep some open.
    return notSpared().filter(({ quote: { nonce } }) => !isCancelling(nonce) && !laterLooks.has(nonce))
  }

  return {
    notSpared,
    toCancel,
    /** How many quotes risk more than each of these, and are still to be cancelled. */
    countAbove(nonces: readonly bigint[]): number {
      const some = nonces.flatMap((nonce) => ledger.get(nonce) ?? [])
      return toCancel().filter((entry) => some.every((other) => bondOf(entry) > bondOf(other))).length
    },
    /** What risks most comes first, since looks take time as well; and of those that risk the same, what is over first. */
    byUrgency: (one: LedgerQuote, other: LedgerQuote) =>
      Number(bondOf(other) - bondOf(one)) || one.quote.fillDeadline - other.quote.fillDeadline,
  }
}
