import type { Hex } from 'viem'
import type { ChainBasics } from './chain/chain-basics.js'
import {
  type DepositedOrder,
  type FilledOrder,
  type MinedTransaction,
  type MissedOrder,
  type OrderTerms,
  type SolverQuote,
  termsOf,
} from './orders/order-terms.js'
import { type BookEntry, fromText, toText } from './state.js'

/**
 * What the market maker was told last of each order and transaction of a chain: it is what the chain has, also after a reorganisation
 * (docs/decisions.md, D32). It is kept after it was told: after a crash between both, it is told again.
 */
export type Books = ReturnType<typeof createBooks>

/** What is not so any more when the deposit is gone. */
const DEPENDENT = ['DEPOSITED', 'FILLED', 'MISSED'] as const

/** Builds the books of a chain. */
export function createBooks({ chain: { chainId }, state, hooks, metrics, time }: ChainBasics) {
  /** What was told last, if it is of one of these kinds. */
  function last(id: string, ...kinds: readonly BookEntry['kind'][]): BookEntry | undefined {
    const entry = state.bookEntry(id)
    return entry && kinds.includes(entry.kind) ? entry : undefined
  }

  /** @returns whether that is new */
  function enter<T extends object>(id: string, kind: BookEntry['kind'], told: T, tell: (told: T) => void) {
    const entry = toText(told)
    if (last(id, kind)?.entry === entry) return false
    tell(told)
    state.setBookEntry({ id, chainId, time: time.passed(), kind, entry })
    return true
  }

  /** The deposit of an order has gone. Nothing is told of one that nobody knows. */
  function removed(orderId: Hex): void {
    const told = last(orderId, ...DEPENDENT)
    if (told === undefined) return
    hooks.onDepositRemoved(fromText<OrderTerms>(told.entry))
    state.dropBookEntry(orderId)
  }

  return {
    /** A deposit is there, and is to be paid. It is told again after a restart. */
    deposited(order: DepositedOrder): void {
      if (!enter(order.orderId, 'DEPOSITED', order, hooks.onDeposit)) hooks.onDeposit(order)
    },
    /** Whether the market maker was told what only a deposit can have caused. */
    isDepositTold: (orderId: Hex) => last(orderId, ...DEPENDENT) !== undefined,
    removed,
    filled(order: FilledOrder): void {
      if (enter(order.orderId, 'FILLED', order, hooks.onFilled)) metrics.filled++
    },
    /** The transaction by which an order was settled, as it was told; undefined when none was. */
    filledBy(orderId: Hex): Hex | undefined {
      const told = last(orderId, 'FILLED')
      return told && fromText<FilledOrder>(told.entry).transactionHash
    },
    /** An order is missed, or costs more than was known. */
    missed(order: MissedOrder): void {
      if (last(order.orderId, 'MISSED') === undefined) metrics.missed++
      enter(order.orderId, 'MISSED', order, hooks.onMissed)
    },
    /** A quote is about to be sent. Of these, none is kept. */
    quoted: hooks.onQuoted,
    /** A reorganisation has removed the cancellation of a quote: it is told as one that is sent. */
    reopened(signed: SolverQuote): void {
      if (last(signed.orderId, 'CANCELLED') === undefined) return
      hooks.onQuoted({ ...termsOf(signed), kind: 'FIRM' })
      state.dropBookEntry(signed.orderId)
    },
    /** A quote is cancelled. What lies at its deposit address becomes no order any more. */
    cancelled(quote: OrderTerms): void {
      removed(quote.orderId)
      enter(quote.orderId, 'CANCELLED', quote, hooks.onCancelled)
    },
    /** A transaction of the account was mined. One nonce has one. */
    mined(mined: MinedTransaction): void {
      const id = `${chainId} ${mined.nonce}`
      const told = last(id, 'TRANSACTION')
      const known = told === undefined ? 0n : fromText<MinedTransaction>(told.entry).gasCost
      if (!enter(id, 'TRANSACTION', mined, hooks.onTransaction)) return
      const fees = metrics.feesWei[chainId]
      const before = fees?.[mined.purpose] ?? 0
      metrics.feesWei[chainId] = { ...fees, [mined.purpose]: before + Number(mined.gasCost - known) }
    },
  }
}
