import type { Address } from 'viem'
import type { Quote } from '../../../src/domain/quote.js'
import { bondFor } from '../../../src/domain/settlement-terms.js'

/** What a solver has on a chain. Amounts in the smallest unit. */
export interface Holdings {
  /** By token in lower case: what the settlement contract could take, the lower one of balance and allowance. */
  readonly payable: ReadonlyMap<Address, bigint>
  /** Total less reserved and unstaking. */
  readonly freeBond: bigint
}

/** `PAYABLE` is the lower one of balance and allowance. `UNREAD` lasts until the node has answered. */
export type Shortage = 'UNREAD' | 'PAYABLE' | 'FREE_BOND'

/** Keeps what the solver has promised within what it has (docs/decisions.md, D13). It does no I/O. */
export interface Liquidity {
  update(holdings: Holdings): void
  /** What is too low for a further quote; undefined when it could be paid. */
  shortageFor(quote: Quote): Shortage | undefined
  /** Counts a quote from now until it is released. */
  promise(quote: Quote): void
  /** The deposit is there: the contract may have reserved the bond. */
  deposited(quote: Quote, where: 'CONTRACT' | 'ADDRESS'): void
  release(quote: Quote): void
  /** The quotes that count. */
  count(): number
}

interface Promised {
  readonly quote: Quote
  deposit: 'NONE' | 'CONTRACT' | 'ADDRESS'
}

/**
 * Builds it for one chain.
 * @param terms.bondReservationBps undefined when the contract does not say
 * @param terms.overcommit how many times quotes without a deposit may promise what is there
 */
export function createLiquidity(terms: {
  readonly bondReservationBps: bigint | undefined
  readonly overcommit: number
}): Liquidity {
  const { bondReservationBps = 0n } = terms
  /** Thousandths, since amounts are integers. */
  const overcommit = BigInt(Math.max(1000, Math.round(terms.overcommit * 1000)))
  const promised = new Map<bigint, Promised>()
  /** Of quotes without a deposit, and of those with one, by token. */
  const open = new Map<Address, bigint>()
  const owed = new Map<Address, bigint>()
  let openBond = 0n
  let owedBond = 0n
  let holdings: Holdings | undefined

  const bondOf = ({ outputAmount }: Quote) => bondFor(outputAmount, bondReservationBps)
  const shareOf = (amount: bigint) => (amount * 1000n) / overcommit

  /** @param sign 1 to count, -1 to count no more */
  function count({ quote, deposit }: Promised, sign: 1n | -1n): void {
    const amounts = deposit === 'NONE' ? open : owed
    const { outputToken, outputAmount } = quote
    amounts.set(outputToken, (amounts.get(outputToken) ?? 0n) + sign * outputAmount)
    // The contract itself has reserved the bond of a deposit by a call.
    if (deposit === 'NONE') openBond += sign * bondOf(quote)
    if (deposit === 'ADDRESS') owedBond += sign * bondOf(quote)
  }

  function release({ nonce }: Quote): void {
    const found = promised.get(nonce)
    if (found === undefined) return
    count(found, -1n)
    promised.delete(nonce)
  }

  return {
    update(next) {
      holdings = next
    },
    shortageFor(quote) {
      if (holdings === undefined) return 'UNREAD'
      const { outputToken, outputAmount } = quote
      const payable = (holdings.payable.get(outputToken) ?? 0n) - (owed.get(outputToken) ?? 0n)
      const freeBond = holdings.freeBond - owedBond
      // A quote must be covered alone, and together with the share of the open ones.
      const promisedToo = shareOf((open.get(outputToken) ?? 0n) + outputAmount)
      if (outputAmount > payable || promisedToo > payable) return 'PAYABLE'
      if (bondReservationBps === 0n) return undefined
      const bond = bondOf(quote)
      return bond > freeBond || shareOf(openBond + bond) > freeBond ? 'FREE_BOND' : undefined
    },
    promise(quote) {
      const entry: Promised = { quote, deposit: 'NONE' }
      promised.set(quote.nonce, entry)
      count(entry, 1n)
    },
    deposited({ nonce }, where) {
      const found = promised.get(nonce)
      if (found === undefined || found.deposit === where) return
      count(found, -1n)
      found.deposit = where
      count(found, 1n)
    },
    release,
    count: () => promised.size,
  }
}
