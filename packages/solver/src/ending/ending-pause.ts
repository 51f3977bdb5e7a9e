import type { ChainParts } from '../chain/chain-parts.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { Cancellations } from './cancellations.js'
import { endsAfter, type OpenQuote } from './ending-rules.js'

/** A quote that leaves time enough to end all others. */
const LONG = { depositDeadline: 0, fillDeadline: Number.POSITIVE_INFINITY, isForAddress: false }

/** Of `settle`, with the margin of its limit. */
const PAYMENT_GAS = 520_000n
/** Of the node, for a payment or a cancellation, and what is read meanwhile. */
const CALLS = 8
/** Fees may rise until a quote is over. */
const FEES_MAY_RISE = 2n

/**
 * Builds what says why a further quote may not be signed: all that is open must be ended in time, with what there is. A quote that
 * cannot be ended is a slash for anybody who asked for it (docs/decisions.md, D23).
 */
export function createEndingPause(
  parts: ChainParts,
  toCancel: () => readonly OpenQuote[],
  { cost, budget }: Cancellations,
) {
  const { chain, solver, time, ledger, addresses, losses, payments, report } = parts
  const secondsFor = (entry: OpenQuote) =>
    entry.quote.fillDeadline - endsAfter(entry, addresses.keepsTokens())

  /** Says it to `onError`, too, at most once a minute. */
  function reported(why: string): string {
    report(why, new Error(`${why} on chain ${chain.chainId}: the solver does not quote`))
    return why
  }

  /**
   * @param asked when left out, a quote that leaves time enough
   * @returns undefined when it may be signed, or nothing is known of its cost yet
   */
  return (asked?: IncomingRequest): string | undefined => {
    if (time.isBlind(chain.pollIntervalMs)) return reported('the node does not answer')
    if (time.isStale()) return 'the newest block is old'
    if (asked !== undefined && losses.hasMissed(asked))
      return 'missed orders in the output token have cost too much, or were of this user'
    const { isForAddress, ...quote } = asked ?? LONG
    if (isForAddress && losses.areAddressesDeclined()) return 'a deposit address has cost a part of the bond'
    const gas = ledger.holdings()?.gas
    if (gas === undefined) return undefined
    const quotes: OpenQuote[] = [...toCancel(), { quote, isForAddress, deposit: 'NONE' }]
    const fees = BigInt(quotes.length) * FEES_MAY_RISE * cost()
    if (fees > budget.left())
      return reported('maxCancelFees of this hour might not pay for the end of what is open')
    if (gas.isCapped)
      return reported('maxFeePerGas is below what a transaction needs when the base fee doubles')
    // Each may have to be paid, or ended, and all may be due at once.
    const orders = ledger.quotes().filter(({ deposit }) => deposit !== 'NONE')
    const count = quotes.length + orders.length
    if (gas.balance < fees + BigInt(count) * PAYMENT_GAS * gas.maxFeePerGas)
      return reported(`${solver} has too little for the gas to end or pay all that is open`)
    // From one block with transactions of the account to the next one. A payment is read, estimated, sent and followed: six calls.
    // What a node that lags shows is seen that much later, in each round, and at the beginning.
    const lag = time.lagSeconds()
    const pollSeconds = chain.pollIntervalMs / 1000
    // Estimates, signatures or a node that refuses calls may take longer. Each end is seen by a poll, up to one interval late.
    const roundSeconds = Math.max(
      time.blockSeconds() + 3 * time.lookSeconds() + pollSeconds + lag,
      payments.roundSeconds() - pollSeconds,
    )
    const callSeconds = (count * CALLS) / chain.callsPerSecond()
    const fillSeconds =
      quotes.map(secondsFor).reduce((one, other) => Math.min(one, other)) - lag - callSeconds
    // The first block after the deposit deadline only shows that it has passed.
    const rounds = Math.floor(fillSeconds / roundSeconds) - 1
    return count <= rounds * chain.maxPayments
      ? undefined
      : 'a fill window may be too short to end all that is open: raise minFillSeconds or maxPayments'
  }
}
