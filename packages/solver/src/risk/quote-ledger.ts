import type { Address } from 'viem'
import { NO_USER, type Quote } from '../../../protocol/src/quotes/quote.js'
import { bondFor } from '../../../protocol/src/solvers/solver.js'
import type { SolverQuote } from '../orders/order-terms.js'
import type { Settings } from '../settings.js'
import type { SolverState } from '../state.js'

/** What a solver has on a chain. Amounts in the smallest unit. */
export interface Holdings {
  /** The block at which it was read. */
  readonly blockNumber: bigint
  /** By token in lower case: what the settlement contract could take, the lower one of balance and allowance. */
  readonly payable: ReadonlyMap<Address, bigint>
  /** Total less reserved and unstaking. */
  readonly freeBond: bigint
  /** With the reserved part. */
  readonly totalBond: bigint
  /** The native coin in wei, and what a transaction pays at most at present, in wei for a unit of gas. */
  readonly gas: { readonly balance: bigint; readonly maxFeePerGas: bigint; readonly isCapped: boolean }
}

/** What a market maker allows quotes to risk. Shares are parts of the free bond, of `maxOpenBond` with what own orders reserve. */
export type RiskLimits = Pick<Settings, 'overcommit' | 'maxBondShare' | 'maxOpenBond' | 'maxAddressBondShare'>

/** A quote that was signed, or is about to be; or prices with one nonce, of which one at most can be taken. */
export interface LedgerQuote {
  /** Of prices: the earliest deadlines and the largest output. */
  readonly quote: Quote
  /** The user pays at the deposit address, or did not say how. */
  readonly isForAddress: boolean
  /** What is signed with this nonce: nothing at first, and then one quote, or the two prices that bind most. */
  readonly signed: readonly SolverQuote[]
  /** `CONTRACT`: the contract has used its nonce, and reserved its bond. */
  readonly deposit: 'NONE' | 'CONTRACT' | 'ADDRESS'
}

/** A price is a quote that no honest user can take: its user is an address without a key. */
export const isPrice = ({ user }: Pick<Quote, 'user'>): boolean => user === NO_USER

/** A quote that is about to be signed. */
export type AskedQuote = Pick<LedgerQuote, 'quote' | 'isForAddress'>

/**
 * The quotes of a chain whose end is not known: the one account of what a solver has promised and risks there. A quote counts against
 * the funds until its fill deadline, and against the bond until its nonce is used: anybody may send the input late to its
 * deposit address, and have the solver slashed (docs/decisions.md, D23). The state has what is signed.
 */
export type QuoteLedger = ReturnType<typeof createQuoteLedger>

type Entry = { -readonly [K in keyof LedgerQuote]: LedgerQuote[K] }

/** A quote may promise this share of a token's funds for a lock of so many seconds, and less for a longer one. */
const FUNDS_SHARE = { divisor: 4n, seconds: 600 }
/** Limits the memory: `cancelAbove` may leave quotes open that risk next to nothing. */
const MAX_QUOTES = 20_000
/** Small quotes may stay open while they hold this part of what all may hold. */
const SPARED_DIVISOR = 10
/** Parts of shares and multiples, since amounts are integers. */
const PARTS = 1_000_000

/**
 * Builds the ledger of a chain.
 * @param bondReservationBps part of the output that a slash takes
 * @param now the chain's time, Unix seconds
 */
export function createQuoteLedger(
  bondReservationBps: bigint,
  limits: RiskLimits,
  now: () => number,
  state: SolverState,
) {
  const overcommit = partsOf(Math.max(1, limits.overcommit))
  const entries = new Map<bigint, Entry>()
  let holdings: Holdings | undefined
  /** By nonce: orders that were paid, while the holdings do not show it. */
  const paid = new Map<bigint, { readonly quote: Quote; readonly blockNumber: bigint }>()
  const bondOf = ({ outputAmount }: Pick<Quote, 'outputAmount'>) => bondFor(outputAmount, bondReservationBps)

  /**
   * Sums up what the quotes promise of a token, with a deposit and without one, and what they can cost: all of them, those for
   * addresses, and the orders whose bond the contract has reserved. A quote without a deposit promises no funds after its fill deadline.
   * @param but is not counted
   */
  function sums(token?: Address, but?: Entry) {
    const sum = { open: 0n, owed: 0n, bond: 0n, addressBond: 0n, reservedBond: 0n }
    for (const entry of entries.values()) {
      if (entry === but) continue
      const { quote, deposit, isForAddress } = entry
      const bond = bondOf(quote)
      sum.bond += bond
      if (deposit === 'CONTRACT') sum.reservedBond += bond
      else if (isForAddress) sum.addressBond += bond
      if (quote.outputToken !== token) continue
      if (deposit !== 'NONE') sum.owed += quote.outputAmount
      else if (now() <= quote.fillDeadline) sum.open += quote.outputAmount
    }
    for (const { quote } of paid.values()) if (quote.outputToken === token) sum.owed += quote.outputAmount
    return sum
  }
  type Sums = ReturnType<typeof sums>

  /** Counts a quote from now on. Prices with the same nonce count once, at their largest amount. */
  function promise({ quote, isForAddress }: AskedQuote): Entry {
    const entry: Entry = entries.get(quote.nonce) ?? { quote, isForAddress, signed: [], deposit: 'NONE' }
    entry.quote = joined(entry.quote, quote)
    entries.set(quote.nonce, entry)
    return entry
  }

  /** It is signed: it counts, is kept, and its deposit address is watched. */
  function add(signed: SolverQuote): void {
    // It may have ended while it was signed.
    const entry = promise(signed)
    // Equal prices have one signature.
    if (entry.signed.some(({ orderId }) => orderId === signed.orderId)) return
    const all = [...entry.signed, signed]
    // Of prices with one nonce, the largest and the one that is over first say all that counts.
    const kept = isPrice(signed.quote) ? bindingOf(all) : all
    if (kept.includes(signed)) state.addQuote(signed)
    for (const { orderId } of entry.signed.filter((each) => !kept.includes(each))) state.dropQuote(orderId)
    entry.signed = kept
  }

  function fundsShortage(
    { outputToken, outputAmount }: Quote,
    sum: Sums,
    lockSeconds: number,
    held: Holdings,
  ) {
    const funds = (held.payable.get(outputToken) ?? 0n) - sum.owed
    const promised = ((sum.open + outputAmount) * BigInt(PARTS)) / overcommit
    if (outputAmount > funds || promised > funds) return 'PAYABLE'
    const { divisor, seconds } = FUNDS_SHARE
    const lock = BigInt(Math.max(seconds, Math.ceil(lockSeconds)))
    return outputAmount * divisor * lock > funds * BigInt(seconds) ? 'SHARE' : undefined
  }

  /** The free bond lacks what own orders have reserved, once the holdings show it; and these orders count. */
  function wholeBond({ freeBond, totalBond }: Holdings, { reservedBond }: Sums): bigint {
    return freeBond + reservedBond < totalBond ? freeBond + reservedBond : totalBond
  }

  /** What was slashed counts as open: otherwise each slash would make room for the next one. */
  function bondShortage(quote: Quote, sum: Sums, isLimited: boolean, slashed: bigint, held: Holdings) {
    const bond = bondOf(quote)
    const isAbove = (amount: bigint, share: number, whole = held.freeBond) =>
      amount * BigInt(PARTS) > whole * partsOf(share)
    if (isAbove(bond, limits.maxBondShare)) return 'BOND_SHARE'
    if (isAbove(sum.bond + slashed + bond, limits.maxOpenBond, wholeBond(held, sum) + slashed))
      return 'OPEN_BOND'
    if (!isLimited) return undefined
    if (limits.maxAddressBondShare === 0) return 'ADDRESS_BOND'
    return isAbove(sum.addressBond + bond, limits.maxAddressBondShare) ? 'ADDRESS_BOND' : undefined
  }

  return {
    update(next: Holdings): void {
      holdings = next
      for (const [nonce, { blockNumber }] of paid) if (blockNumber <= next.blockNumber) paid.delete(nonce)
    },
    /**
     * What is too low for a further quote; undefined when it may be signed. `UNREAD` lasts until the node has answered. `PAYABLE`: the
     * funds of the token are promised. `SHARE`: the quote promises too much of them for so long. The others are the limits of the bond.
     * @param lockSeconds until its fill deadline
     * @param keepsTokens the contract keeps, or may keep, tokens at the address of a cancelled quote
     * @param slashed what slashes have lately cost
     */
    shortageFor(
      { quote, isForAddress }: AskedQuote,
      lockSeconds: number,
      keepsTokens: boolean,
      slashed: bigint,
    ) {
      if (holdings === undefined) return 'UNREAD'
      if (entries.size >= MAX_QUOTES) return 'TOO_MANY'
      const earlier = entries.get(quote.nonce)
      const wanted = earlier === undefined ? quote : joined(earlier.quote, quote)
      const sum = sums(quote.outputToken, earlier)
      return (
        fundsShortage(wanted, sum, lockSeconds, holdings) ??
        bondShortage(wanted, sum, isForAddress && keepsTokens, slashed, holdings)
      )
    },
    promise: (asked: AskedQuote) => void promise(asked),
    add,
    /** A reorganisation has removed its end. */
    reopen(signed: SolverQuote): void {
      if (entries.has(signed.quote.nonce)) return
      state.endQuote(signed.orderId, null)
      add(signed)
    },
    /** It was never sent. */
    withdraw(quote: Pick<Quote, 'nonce'>): void {
      if (entries.get(quote.nonce)?.signed.length === 0) entries.delete(quote.nonce)
    },
    /** The deposit is there, or can no longer be paid for. */
    deposited({ nonce }: Quote, deposit: LedgerQuote['deposit']): void {
      const entry = entries.get(nonce)
      if (entry !== undefined) entry.deposit = deposit
    },
    /**
     * Its nonce is used.
     * @param paidAt the block in which its order was paid: until the holdings are of this one, they have what was paid
     */
    end(ended: SolverQuote, paidAt?: bigint): void {
      const { quote } = ended
      const { nonce } = quote
      for (const { orderId } of entries.get(nonce)?.signed ?? [ended]) state.endQuote(orderId, now())
      entries.delete(nonce)
      if (paidAt !== undefined) paid.set(nonce, { quote, blockNumber: paidAt })
    },
    quotes: (): Iterable<LedgerQuote> => entries.values(),
    get: (nonce: bigint): LedgerQuote | undefined => entries.get(nonce),
    /** What can still be paid for at its deposit address, by that in lower case. Nobody is owed what a price promises. */
    addresses: (): ReadonlyMap<Address, SolverQuote> =>
      new Map(
        [...entries.values()]
          .filter(({ quote }) => !isPrice(quote) && now() <= quote.fillDeadline)
          .flatMap(({ signed }) => signed.map((each) => [each.depositAddress, each] as const)),
      ),
    bondOf,
    /** How many quotes may stay open that risk so much each: a tenth of what `maxOpenBond` and the memory allow. */
    mostSpared(bond: bigint): number {
      const most = MAX_QUOTES / SPARED_DIVISOR
      if (holdings === undefined || bond === 0n) return most
      const allowed = wholeBond(holdings, sums()) * partsOf(limits.maxOpenBond / SPARED_DIVISOR)
      return Math.min(most, Number(allowed / (bond * BigInt(PARTS))))
    },
    /** As last read; undefined before that. */
    holdings: () => holdings,
    count: () => entries.size,
  }
}

/** @param prices at least one */
function bindingOf(prices: readonly SolverQuote[]): readonly SolverQuote[] {
  const largest = prices.reduce((one, next) =>
    next.quote.outputAmount > one.quote.outputAmount ? next : one,
  )
  const first = prices.reduce((one, next) =>
    next.quote.depositDeadline < one.quote.depositDeadline ? next : one,
  )
  return [...new Set([first, largest])]
}

/** What both can cost when one of them at most is taken. */
function joined(one: Quote, other: Quote): Quote {
  return {
    ...one,
    outputAmount: one.outputAmount > other.outputAmount ? one.outputAmount : other.outputAmount,
    depositDeadline: Math.min(one.depositDeadline, other.depositDeadline),
    // Nobody is owed what a price promises, and each can be slashed from its own deadline on.
    fillDeadline: Math.min(one.fillDeadline, other.fillDeadline),
  }
}

function partsOf(share: number): bigint {
  return BigInt(Math.round(share * PARTS))
}
