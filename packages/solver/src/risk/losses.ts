import type { Address } from 'viem'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import type { ChainBasics } from '../chain/chain-basics.js'
import type { Loss } from '../state.js'
import type { QuoteLedger } from './quote-ledger.js'

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS
/** A token may refuse one receiver only. That one gets no more of it for so long: it could have its orders missed on purpose. */
const USER_SECONDS = 7 * DAY_SECONDS
/** A token may refuse its receivers. It is declined for an hour when orders that were missed in it have cost this part of the bond. */
const MUCH_DIVISOR = 100n

/** Knows what was lately taken from the bond of a chain for missed orders and untaken quotes, by the books: also over restarts. */
export function createLosses({ chain: { chainId }, state, time }: ChainBasics, ledger: QuoteLedger) {
  const within = (seconds: number) => state.losses(chainId, time.passed() - seconds)
  const sum = (losses: readonly Loss[]) => losses.reduce((total, { cost }) => total + cost, 0n)
  /** Of orders at the contract: tokens at an address may come too late to be paid for, whatever the output token does. */
  const missed = (token: Address, seconds: number) =>
    within(seconds).filter(
      (loss) => loss.deposit === 'CONTRACT' && lowerCase(loss.outputToken) === lowerCase(token),
    )

  /** Whether missed orders in an output token have lately cost much of the bond. */
  const isRefused = (outputToken: Address) =>
    sum(missed(outputToken, HOUR_SECONDS)) * MUCH_DIVISOR > (ledger.holdings()?.totalBond ?? 0n)

  return {
    isRefused,
    /** Whether quotes of an output token are declined, or those for this user. Addresses in lower case. */
    hasMissed: ({ outputToken, user }: Pick<Quote, 'outputToken' | 'user'>) =>
      isRefused(outputToken) ||
      missed(outputToken, USER_SECONDS).some((loss) => lowerCase(loss.user) === user),
    /** Whether quotes for deposit addresses are declined after a slash of one within a day. */
    areAddressesDeclined: () => within(DAY_SECONDS).some(({ isForAddress }) => isForAddress === 1),
    /** What a day has cost. */
    ofDay: () => sum(within(DAY_SECONDS)),
  }
}
