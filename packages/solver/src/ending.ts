import { type Address, encodeFunctionData, type Hex } from 'viem'
import type { Quote } from '../../../src/domain/quote.js'
import type { Cancellations } from './cancellations.js'
import type { Head } from './chain/chain-time.js'
import { type AtBlock, isNonceUsed, readBalance, readOrder, settleCall } from './chain/orders.js'
import type { ChainParts } from './chain-parts.js'
import type { EndingLoad } from './ending-limits.js'
import { decideEnd, endsAfter } from './ending-rules.js'
import type { SolverQuote } from './fillable-order.js'
import type { Filling } from './filling.js'
import { isPrice, type LedgerQuote } from './quote-ledger.js'

/** What became of a quote that was to be cancelled. */
export interface CancelledQuote {
  readonly orderId: Hex
  /**
   * `CANCELLED` on the chain. `TAKEN`: its deposit came first, so the order is filled as any other, or has ended. `KEPT`: the user
   * pays at the deposit address, and the contract would keep the tokens; the kit ends it after its deposit deadline. `OPEN`:
   * `maxCancelFees` does not allow its cancellation now; it stays open, and the kit ends it as any other.
   */
  readonly outcome: 'CANCELLED' | 'TAKEN' | 'KEPT' | 'OPEN'
}

/** Somebody who asked to cancel a quote. */
interface Waiter {
  resolve(outcome: CancelledQuote['outcome']): void
  reject(reason: unknown): void
}

/** Ends the quotes of a chain that were not taken: the one place where they leave the ledger without a deposit at the contract. */
export type Ending = ReturnType<typeof createEnding>

/** A quote whose end depends on others, and which nobody can pay for any more, is looked at so often. */
const SLOW_LOOK_SECONDS = 60
/** Quotes that are read at once. */
const LOOKED_AT = 100

/** Builds it. @param cancellations undefined for an account that signs no transactions: then nothing is cancelled */
export function createEnding(
  parts: ChainParts,
  filling: Pick<Filling, 'deposited'>,
  cancellations: Cancellations | undefined,
) {
  const { chain, solver, time, ledger, state, addresses, payments, signal, onError } = parts
  const requested = new Map<bigint, Waiter[]>()
  /** When the next look at a quote is due. */
  const slow = new Map<bigint, number>()
  /** Nonces whose last look has failed, and was reported. */
  const failing = new Set<bigint>()
  let looking: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let newest: Head | undefined

  const rejectAll = () => {
    for (const { reject } of [...requested.values()].flat()) reject(signal.reason)
  }
  signal.addEventListener('abort', rejectAll, { once: true })

  function isDue(entry: LedgerQuote): boolean {
    const { quote, signed, deposit } = entry
    const [first] = signed
    if (first === undefined || deposit === 'CONTRACT') return false
    const isTime = time.passed() > endsAfter(entry) && time.passed() >= (slow.get(quote.nonce) ?? 0)
    if (!isTime && !requested.has(quote.nonce)) return false
    return !cancellations?.has(quote.nonce) && !payments?.isUnderWay(first.orderId)
  }

  const bondOf = ({ quote }: LedgerQuote) => ledger.bondOf(quote)
  /** Where one refund can release the bond of another order, no quote is small (docs/decisions.md, D23). */
  const cancelAbove = () => (cancellations?.hasWords() ? 0n : chain.cancelAbove)

  /** The quotes that will be cancelled unless somebody takes them, but for those whose cancellation is under way. */
  function openQuotes(): LedgerQuote[] {
    const above = cancelAbove()
    return [...ledger.quotes()].filter((entry) => {
      const { nonce } = entry.quote
      if (entry.deposit === 'CONTRACT' || cancellations?.has(nonce)) return false
      // Tokens that came late keep some open.
      return !slow.has(nonce) && bondOf(entry) > above
    })
  }

  function conclude(nonce: bigint, outcome: CancelledQuote['outcome']): void {
    for (const { resolve } of requested.get(nonce) ?? []) resolve(outcome)
    requested.delete(nonce)
  }

  /**
   * Its nonce is used: by an order, by a cancellation, or by a refund. A price that was deposited is found by the event of the contract.
   * @param signed the first one with the nonce
   */
  async function end(entry: LedgerQuote, signed: SolverQuote): Promise<void> {
    const { quote, isForAddress } = entry
    const { state: reached, fillDeadline } = await readOrder(chain, signed.orderId)
    conclude(quote.nonce, reached === 'NONE' ? 'CANCELLED' : 'TAKEN')
    if (reached === 'DEPOSITED') return filling.deposited(signed.orderId, fillDeadline)
    // Others may end an order without a slash.
    if (reached === 'REFUNDED' && isForAddress && addresses.hasCostBond(await parts.refresh())) {
      const { orderId, chainId } = signed
      onError(
        new Error(
          `order ${orderId} at a deposit address on chain ${chainId} has cost a part of the bond: quotes for deposit addresses are declined there for 24 hours`,
        ),
      )
    }
    slow.delete(quote.nonce)
    for (const { orderId } of entry.signed) state.endQuote(orderId, time.passed())
    ledger.end(quote)
  }

  async function canSettle({ quote, signature, orderId }: SolverQuote): Promise<boolean> {
    if (time.passed() > quote.fillDeadline || (state.order(orderId)?.status ?? 'OPEN') !== 'OPEN')
      return false
    const call = settleCall(chain, quote, signature)
    const data = encodeFunctionData(call)
    return chain.client.call({ account: solver, to: call.address, data }).then(
      () => true,
      () => false,
    )
  }

  /** A balance that cannot be read keeps no quote open, unless its cancellation might take tokens from a user. */
  async function balanceOf({ quote, isForAddress }: LedgerQuote, address: Address, at: AtBlock) {
    const { inputToken } = quote
    try {
      const [before, now] = await Promise.all([
        readBalance(chain, inputToken, address, at),
        readBalance(chain, inputToken, address),
      ])
      return before > now ? before : now
    } catch (error) {
      const isEarly = time.passed() <= endsAfter({ quote, deposit: 'ADDRESS' })
      if (isEarly || (isForAddress && addresses.keepsTokens())) throw error
      return 0n
    }
  }

  /** @returns whether its nonce is to be used up */
  async function lookAt(entry: LedgerQuote, head: Head): Promise<boolean> {
    const { quote } = entry
    const [signed] = entry.signed
    if (signed === undefined) return false
    // A node that does not have this block must not answer for it. What came after it counts as well.
    const at = { blockNumber: BigInt(head.number) }
    const [wasUsed, isUsed, balance] = await Promise.all([
      isNonceUsed(chain, solver, quote.nonce, at),
      isNonceUsed(chain, solver, quote.nonce),
      balanceOf(entry, signed.depositAddress, at),
    ])
    if (wasUsed || isUsed) return end(entry, signed).then(() => false)
    const isPaid = balance >= quote.inputAmount
    const decision = decideEnd(entry, {
      time: time.passed(),
      balance,
      canSettle: isPaid && !isPrice(quote) && (await canSettle(signed)),
      bond: bondOf(entry),
      cancelAbove: cancelAbove(),
      keepsTokens: addresses.keepsTokens(),
      isRequested: requested.has(quote.nonce),
    })
    if (decision === 'CANCEL') return true
    conclude(quote.nonce, decision === 'PAY' ? 'TAKEN' : 'KEPT')
    if (decision === 'PAY') filling.deposited(signed.orderId, quote.fillDeadline)
    else if (time.passed() > quote.fillDeadline) slow.set(quote.nonce, time.passed() + SLOW_LOOK_SECONDS)
    return false
  }

  /**
   * One that fails must not keep the others. It is looked at again at each block.
   * @param failures gets the error when somebody waits for its cancellation
   */
  async function tryToLookAt(entry: LedgerQuote, head: Head, failures: unknown[]): Promise<boolean> {
    const { nonce } = entry.quote
    try {
      const isEnding = await lookAt(entry, head)
      failing.delete(nonce)
      return isEnding
    } catch (error) {
      if (!signal.aborted && !failing.has(nonce)) onError(error)
      failing.add(nonce)
      if (requested.has(nonce)) failures.push(error)
      return false
    }
  }

  async function lookAtAll(): Promise<void> {
    const head = newest
    if (head === undefined) return
    cancellations?.resume()
    for (const nonce of requested.keys())
      if ((ledger.get(nonce)?.deposit ?? 'CONTRACT') === 'CONTRACT') conclude(nonce, 'TAKEN')
    const due = [...ledger.quotes()].filter(isDue)
    // Looks take time as well, so that what risks most is cancelled before others are looked at.
    due.sort((one, other) => Number(bondOf(other) - bondOf(one)))
    const failures: unknown[] = []
    for (let from = 0; from < due.length && !signal.aborted; from += LOOKED_AT) {
      const some = due.slice(from, from + LOOKED_AT)
      const isEnding = await Promise.all(some.map((entry) => tryToLookAt(entry, head, failures)))
      await cancelAll(some.filter((_, index) => isEnding[index]))
    }
    if (failures.length > 0) throw failures[0]
    await addresses.learn()
  }

  /** @param ending what risks most first */
  async function cancelAll(ending: readonly LedgerQuote[]): Promise<void> {
    const isEarly = ({ quote }: LedgerQuote) => time.passed() <= quote.depositDeadline
    const noncesOf = (entries: readonly LedgerQuote[]) => entries.map(({ quote }) => quote.nonce)
    await cancellations?.start(noncesOf(ending.filter((entry) => !isEarly(entry))), false)
    await cancellations?.start(noncesOf(ending.filter(isEarly)), true)
  }

  /** One look after the other, and only the newest block waits. */
  function look(): Promise<void> {
    if (waiting === undefined) {
      waiting = looking.then(() => {
        waiting = undefined
        return lookAtAll()
      })
      looking = waiting.catch((error) => {
        if (!signal.aborted) onError(error)
      })
    }
    return waiting
  }

  return {
    /** Looks at each quote that is due. @param head the last one is looked at again when left out: a transaction has ended after it */
    look(head = newest): void {
      newest = head
      void look()
    },
    /** Cancels quotes before their time. @returns when each has ended @throws viem's errors; the quotes are then cancelled later */
    async cancel(wanted: readonly SolverQuote[]): Promise<CancelledQuote[]> {
      if (cancellations === undefined) throw new Error('the account cannot sign transactions')
      const outcomes = wanted.map(async ({ orderId, quote: { nonce } }) => ({
        orderId,
        outcome: await new Promise<CancelledQuote['outcome']>((resolve, reject) => {
          requested.set(nonce, [...(requested.get(nonce) ?? []), { resolve, reject }])
        }),
      }))
      const [ended] = await Promise.all([Promise.all(outcomes), look()])
      return ended
    },
    /** What is open, with a quote that is asked for. */
    loadWith(asked: Pick<Quote, 'depositDeadline' | 'fillDeadline'>): EndingLoad {
      const open = openQuotes()
      const orders = [...ledger.quotes()].filter(({ deposit }) => deposit !== 'NONE')
      const endings = cancellations?.countFor(open.map(({ quote }) => quote.nonce)) ?? 0
      const fillSeconds = open.reduce(
        (shortest, { quote }) => Math.min(shortest, quote.fillDeadline - quote.depositDeadline),
        asked.fillDeadline - asked.depositDeadline,
      )
      return { quotes: open.length + 1, transactions: endings + orders.length + 1, fillSeconds }
    },
    /** How many quotes risk more than each of these, and are still to be cancelled. */
    countAbove(nonces: readonly bigint[]): number {
      const some = nonces.flatMap((nonce) => ledger.get(nonce) ?? [])
      return openQuotes().filter((entry) => some.every((other) => bondOf(entry) > bondOf(other))).length
    },
    /** Gives up the wish to cancel quotes before their time: the budget does not allow it now. */
    leaveOpen(nonces: readonly bigint[]): void {
      for (const nonce of nonces) conclude(nonce, 'OPEN')
    },
  }
}
