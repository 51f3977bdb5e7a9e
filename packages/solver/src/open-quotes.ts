import type { Address } from 'viem'
import type { SolverQuote } from './fillable-order.js'
import type { Liquidity } from './liquidity.js'

/** The quotes of a chain that may still be taken: their deposit addresses are watched, and they count as promised. */
export interface OpenQuotes {
  add(signed: SolverQuote): void
  /** Takes a quote out that was paid, or never will be. */
  remove(signed: SolverQuote): void
  /** Takes out what can no longer be taken. @param now Unix time in seconds */
  removeExpired(now: number): void
  addresses(): readonly Address[]
  /** @param address in lower case */
  at(address: Address): SolverQuote | undefined
}

/** Builds an empty list, which releases from `liquidity` what it takes out. */
export function createOpenQuotes(liquidity: Liquidity): OpenQuotes {
  const byAddress = new Map<Address, SolverQuote>()

  function remove({ depositAddress, quote }: SolverQuote): void {
    byAddress.delete(depositAddress)
    liquidity.release(quote)
  }

  return {
    add: (signed) => void byAddress.set(signed.depositAddress, signed),
    remove,
    removeExpired(now) {
      for (const signed of byAddress.values()) if (signed.quote.fillDeadline < now) remove(signed)
    },
    addresses: () => [...byAddress.keys()],
    at: (address) => byAddress.get(address),
  }
}
