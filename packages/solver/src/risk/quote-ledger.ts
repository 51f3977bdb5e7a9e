import type { Address, Hex } from 'viem'
import { NO_USER, type Quote } from '../../../protocol/src/quotes/quote.js'
import { bondFor } from '../../../protocol/src/solvers/solver.js'
import type { ChainBasics } from '../chain/chain-basics.js'
import type { Holdings } from '../chain/holdings.js'
import type { SolverQuote } from '../orders/order-terms.js'
import { max, min } from '../transactions/fees.js'

/** What became of a quote that was to be cancelled. */
export interface CancelledQuote {
  readonly orderId: Hex
  /**
   * `CANCELLED` on the chain. `TAKEN`: its deposit came first, so the order is filled as any other, or has ended. `KEPT`: the user
   * pays at the deposit address, and the contract would keep the tokens; the kit ends it after the middle of its fill window. `OPEN`:
   * `maxCancelFees` does not allow its cancellation now; it stays open, and the kit ends it as any other.
   */
  readonly outcome: 'CANCELLED' | 'TAKEN' | 'KEPT' | 'OPEN'
}

/** A quote that was signed, or is about to be; or prices with one nonce, of which one at most can be taken. Only the ledger changes it. */
export interface LedgerQuote {
  /** Of prices: the earliest deadlines and the largest output. */
  readonly quote: Quote
  /** The user pays at the deposit address, or did not say how. */
  readonly isForAddress: boolean
  /** What is signed with this nonce: nothing at first, and then one quote, or the two prices that bind most. */
  readonly signed: readonly SolverQuote[]
  /** `CONTRACT`: the contract has used its nonce, and reserved its bond. */
  readonly deposit: 'NONE' | 'CONTRACT' | 'ADDRESS'
  /** A transaction that uses up its nonce is under way. */
  readonly isCancelling?: boolean
  /** Who asked to cancel it before its time, and waits. When a look at it fails, its end stays wanted. */
  readonly requests?:
    | readonly { resolve(outcome: CancelledQuote['outcome']): void; reject(reason: unknown): void }[]
    | undefined
  /** When the next look at it is due, as its end depends on others. In Unix seconds of the chain. */
  readonly laterLook?: number | undefined
}

type Entry = { -readonly [Field in keyof LedgerQuote]: LedgerQuote[Field] }

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

/** A quote may promise this share of a token's funds for a lock of so many seconds, and less for a longer one. */
const FUNDS_SHARE = { divisor: 4n, seconds: 600 }
/** Small quotes may stay open while they hold this part of what all may hold, and so many of them, which limits the memory. */
const SPARED_DIVISOR = 10
const MAX_SPARED = 2_000
/** Parts of shares and multiples, since amounts are integers. */
const PARTS = 1_000_000

/** Builds the ledger of a chain. */
export function createQuoteLedger({ chain, options: limits, time, state }: ChainBasics) {
  const now = time.passed
  const overcommit = partsOf(limits.overcommit)
  const entries = new Map<bigint, Entry>()
  let holdings: Holdings | undefined
  /** By nonce: orders that were paid, while the holdings do not show it. */
  const paid = new Map<bigint, { readonly quote: Quote; readonly blockNumber: bigint }>()
  const bondOf = ({ outputAmount }: Pick<Quote, 'outputAmount'>) =>
    bondFor(outputAmount, chain.bondReservationBps)

  /**
   * Sums up what the quotes promise of a token, with a deposit and without one, and what they can cost: all of them, those for
   * addresses, and the orders whose bond the contract has reserved. A quote without a deposit promises no funds after its fill deadline.
   * @param but is not counted
   */
  function sums(token?: Address, but?: LedgerQuote) {
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

  /** Counts a quote from now on. Prices with the same nonce count once, at their largest amount. */
  function promise({ quote, isForAddress }: AskedQuote) {
    const entry: Entry = entries.get(quote.nonce) ?? {
      quote,
      isForAddress,
      signed: [],
      deposit: 'NONE',
    }
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
    const kept = bindingOf([...entry.signed, signed])
    if (kept.includes(signed)) state.addQuote(signed)
    for (const each of entry.signed) if (!kept.includes(each)) state.dropQuote(each.orderId)
    entry.signed = kept
  }

  /** The free bond lacks what own orders have reserved, once the holdings show it; and these orders count. */
  const wholeBond = ({ freeBond, totalBond }: Holdings, reserved: bigint) =>
    min(freeBond + reserved, totalBond)

  return {
    update(next: Holdings): void {
      holdings = next
      for (const [nonce, { blockNumber }] of paid) if (blockNumber <= next.blockNumber) paid.delete(nonce)
    },
    /**
     * What is too low for a further quote; undefined when it may be signed. `UNREAD` lasts until the node has answered. `PAYABLE`: the
     * funds of the token are promised. `SHARE`: the quote promises too much of them for so long. The others are the limits of the bond.
     * @param keepsTokens the contract keeps, or may keep, tokens at the address of a cancelled quote
     * @param slashed what slashes have lately cost
     */
    shortageFor({ quote, isForAddress }: AskedQuote, keepsTokens: boolean, slashed: bigint) {
      if (holdings === undefined) return 'UNREAD'
      const { payable, freeBond } = holdings
      const earlier = entries.get(quote.nonce)
      const wanted = earlier === undefined ? quote : joined(earlier.quote, quote)
      const { outputToken, outputAmount } = wanted
      const sum = sums(outputToken, earlier)
      const funds = (payable.get(outputToken) ?? 0n) - sum.owed
      const promised = ((sum.open + outputAmount) * BigInt(PARTS)) / overcommit
      if (outputAmount > funds || promised > funds) return 'PAYABLE'
      const { divisor, seconds } = FUNDS_SHARE
      const lock = BigInt(Math.max(seconds, Math.ceil(quote.fillDeadline - time.now())))
      if (outputAmount * divisor * lock > funds * BigInt(seconds)) return 'SHARE'
      const bond = bondOf(wanted)
      const isAbove = (amount: bigint, share: number, whole = freeBond) =>
        amount * BigInt(PARTS) > whole * partsOf(share)
      if (isAbove(bond, limits.maxBondShare)) return 'BOND_SHARE'
      // What was slashed counts as open: otherwise each slash would make room for the next one.
      const whole = wholeBond(holdings, sum.reservedBond) + slashed
      if (isAbove(sum.bond + slashed + bond, limits.maxOpenBond, whole)) return 'OPEN_BOND'
      const isLimited = isForAddress && keepsTokens
      if (isLimited && isAbove(sum.addressBond + bond, limits.maxAddressBondShare)) return 'ADDRESS_BOND'
      return undefined
    },
    promise,
    add,
    /**
     * A reorganisation has removed the end of a quote: all quotes with its nonce count again.
     * @param taken undefined for a price that was not kept. It may have the nonce of any price, so all prices count until a look ends them.
     */
    reopen(taken?: SolverQuote): void {
      if (taken && entries.has(taken.quote.nonce)) return
      const isAgain = ({ quote, orderId }: SolverQuote) =>
        taken
          ? quote.nonce === taken.quote.nonce
          : isPrice(quote) && state.order(orderId)?.status === 'QUOTED'
      for (const ended of state.endedQuotes(chain.chainId).filter(isAgain)) {
        state.endQuote(ended.orderId, null)
        add(ended)
      }
    },
    /** It was never sent. */
    withdraw({ nonce }: Quote): void {
      if (entries.get(nonce)?.signed.length === 0) entries.delete(nonce)
    },
    /** The deposit is there, or can no longer be paid for. */
    deposited({ nonce }: Quote, deposit: LedgerQuote['deposit']): void {
      const entry = entries.get(nonce)
      if (entry !== undefined) entry.deposit = deposit
    },
    /** Transactions that use up their nonces are under way, or no longer. */
    setCancelling(some: readonly Entry[], isCancelling: boolean): void {
      for (const entry of some) entry.isCancelling = isCancelling
    },
    /** Its end is wanted before its time. @param more who wait for it, if anybody does */
    request(entry: Entry, ...more: NonNullable<Entry['requests']>): void {
      entry.requests = [...(entry.requests ?? []), ...more]
    },
    conclude,
    /**
     * Its nonce is used.
     * @param paidAt the block in which its order was paid: until the holdings are of this one, they have what was paid
     */
    end(ended: SolverQuote, paidAt?: bigint): void {
      const { quote } = ended
      const { nonce } = quote
      const entry = entries.get(nonce)
      for (const { orderId } of entry?.signed ?? [ended]) state.endQuote(orderId, now())
      // Otherwise it was cancelled, which is known already.
      if (entry !== undefined) conclude(entry, 'TAKEN')
      entries.delete(nonce)
      if (paidAt !== undefined) paid.set(nonce, { quote, blockNumber: paidAt })
    },
    quotes: (): LedgerQuote[] => [...entries.values()],
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
      if (holdings === undefined || bond === 0n) return MAX_SPARED
      const allowed = wholeBond(holdings, sums().reservedBond) * partsOf(limits.maxOpenBond / SPARED_DIVISOR)
      return Math.min(MAX_SPARED, Number(allowed / (bond * BigInt(PARTS))))
    },
    /** As last read; undefined before that. */
    holdings: () => holdings,
    count: () => entries.size,
  }
}

/** Of prices with one nonce, the largest and the one that is over first say all that counts. */
function bindingOf(prices: readonly SolverQuote[]): readonly SolverQuote[] {
  const [first] = prices.toSorted((one, other) => one.quote.depositDeadline - other.quote.depositDeadline)
  const [largest] = prices.toSorted((one, other) => Number(other.quote.outputAmount - one.quote.outputAmount))
  return prices.filter((each) => each === first || each === largest)
}

/** What both can cost when one of them at most is taken. */
const joined = (one: Quote, other: Quote): Quote => ({
  ...one,
  outputAmount: max(one.outputAmount, other.outputAmount),
  depositDeadline: Math.min(one.depositDeadline, other.depositDeadline),
  // Nobody is owed what a price promises, and each can be slashed from its own deadline on.
  fillDeadline: Math.min(one.fillDeadline, other.fillDeadline),
})

function partsOf(share: number): bigint {
  return BigInt(Math.round(share * PARTS))
}

/** It is known what becomes of a quote. @param laterLook when the next look at it is due; as usual when left out */
function conclude(entry: Entry, outcome: CancelledQuote['outcome'], laterLook?: number): void {
  for (const { resolve } of entry.requests ?? []) resolve(outcome)
  Object.assign(entry, { requests: undefined, laterLook })
}
