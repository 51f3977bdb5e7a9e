import { untilAborted } from '../../../client/src/calls/abort.js'
import type { ChainParts } from '../chain/chain-parts.js'
import {
  type AtBlock,
  isNonceUsed,
  readBalance,
  readOrder,
  requestOf,
  settleCall,
} from '../chain/contract.js'
import { inPlace } from '../chain/pacing.js'
import { isGivenUp } from '../orders/deposits.js'
import type { Filling } from '../orders/filling.js'
import { type QuotedOrder, type SolverQuote, termsOf } from '../orders/order-terms.js'
import { quotedOf } from '../risk/exposure.js'
import { type CancelledQuote, isPrice, type LedgerQuote } from '../risk/quote-ledger.js'
import { max } from '../transactions/fees.js'
import { createCancellations } from './cancellations.js'
import { createEndingPause } from './ending-pause.js'
import { endsAfter, isKept, isLastPayment, middleOf } from './ending-rules.js'

/**
 * Ends the quotes of a chain that were not taken: the one place where they leave the ledger without a deposit at the contract. An open
 * quote goes this way:
 * 1. It is due when its time has come (`endsAfter`), or when the market maker wants it to be cancelled.
 * 2. A look asks the chain (`createQuoteLook`). If its nonce is used, it ends. If its tokens are there, it is paid or kept.
 * 3. Otherwise a cancellation uses up its nonce (`cancellations.ts`), and the next look ends it.
 */
export function createEnding(parts: ChainParts, filling: Filling) {
  const { chain, time, ledger, addresses, losses, payments, signal, onError, report } = parts
  const cancellations = createCancellations(parts, toCancel, look)
  const lookAtQuote = createQuoteLook(parts, filling)
  let looking: Promise<unknown> = Promise.resolve()
  let isLookDue = false
  let timesCancelled = 0

  const bondOf = ({ quote }: LedgerQuote) => ledger.bondOf(quote)

  /**
   * `cancelAbove` keeps the first small quotes open, so that free requests do not hold `maxOpenBond`. For a day after a slash it keeps
   * none, since whoever slashes one goes on with the next.
   */
  function spared(): ReadonlySet<LedgerQuote> {
    const most = losses.ofDay() > 0n ? 0 : ledger.mostSpared(chain.cancelAbove)
    const isSmall = (entry: LedgerQuote) => entry.deposit !== 'CONTRACT' && bondOf(entry) <= chain.cancelAbove
    return new Set(ledger.quotes().filter(isSmall).slice(0, most))
  }

  /** The quotes that will be cancelled unless somebody takes them, but for those whose cancellation is under way. */
  function toCancel(): LedgerQuote[] {
    const kept = spared()
    return ledger.quotes().filter((entry) => {
      // Tokens that came late keep some open.
      const isKept = kept.has(entry) || entry.laterLook !== undefined
      return entry.deposit !== 'CONTRACT' && !isKept && !entry.isCancelling
    })
  }

  /** What risks most comes first, since looks take time as well; and of those that risk the same, what is over first. */
  const byUrgency = (one: LedgerQuote, other: LedgerQuote) =>
    Number(bondOf(other) - bondOf(one)) || one.quote.fillDeadline - other.quote.fillDeadline

  /** Looks at each quote that is due: one look after the other, and one at most waits. */
  function look(): void {
    if (isLookDue) return
    isLookDue = true
    looking = looking
      .then(() => inPlace('READ', lookAtAll))
      .catch((error) => signal.aborted || onError(error))
  }

  async function lookAtAll(): Promise<void> {
    isLookDue = false
    cancellations.resume()
    for (const entry of ledger.quotes()) if (entry.deposit === 'CONTRACT') ledger.conclude(entry, 'TAKEN')
    const due = ledger.quotes().filter(isDue).sort(byUrgency)
    const kept = spared()
    // Looks use calls that payments and cancellations need: of what can only be cancelled, no more than can be sent now.
    const ending: LedgerQuote[] = []
    for (let from = 0; from < due.length && !signal.aborted; from += chain.maxPayments) {
      const next = due.slice(from, from + chain.maxPayments)
      const some = next.filter(({ isForAddress }) => isForAddress || !cancellations.isFull(ending))
      const isEnding = await Promise.all(some.map((entry) => tryToLookAt(entry, kept)))
      ending.push(...some.filter((_, index) => isEnding[index]))
    }
    cancellations.start(ending)
    await addresses.learn()
  }

  function isDue(entry: LedgerQuote): boolean {
    const { deposit, laterLook = 0 } = entry
    const [first] = entry.signed
    if (first === undefined || deposit === 'CONTRACT') return false
    const keepsTokens = addresses.keepsTokens()
    const from = Math.max(endsAfter(entry, keepsTokens) + 1, laterLook)
    const isTime = time.due() >= from || (keepsTokens && isLastPayment(entry, time.due()))
    if (!isTime && !entry.requests) return false
    // A first look at an order says what its quote needs, too.
    const isUnread = filling.deposits.get(first.orderId)?.isSeen === false
    return !isUnread && !entry.isCancelling && !payments.isUnderWay(first.orderId)
  }

  /** One that fails must not keep the others. It is looked at again at each block. */
  async function tryToLookAt(entry: LedgerQuote, kept: ReadonlySet<LedgerQuote>): Promise<boolean> {
    try {
      return await lookAtQuote(entry, () => kept.has(entry) && !entry.requests)
    } catch (error) {
      report(`look ${entry.quote.inputToken}`, error)
      for (const { reject } of entry.requests ?? []) reject(error)
      return false
    }
  }

  return {
    look,
    /** Learns what a cancellation costs. @throws viem's errors */
    learn: cancellations.learn,
    reopen: cancellations.reopen,
    /** Goes on with the cancellations that the state has. */
    resume: cancellations.resume,
    /** How often quotes were cancelled before their time: an offer that was priced or signed meanwhile is not sent. */
    timesCancelled: () => timesCancelled,
    /** As `Solver.cancelQuotes`. When a look fails, what was selected is cancelled later nevertheless. */
    async cancelQuotes(selects: (quote: QuotedOrder) => boolean = () => true): Promise<CancelledQuote[]> {
      signal.throwIfAborted()
      timesCancelled++
      // A promise selects nothing: it is true at once.
      const isSelected = (signed: SolverQuote) => selects(quotedOf(signed)) === true
      const outcomes = ledger.quotes().flatMap((entry) =>
        entry.signed.filter(isSelected).map(async ({ orderId }) => {
          const outcome = await new Promise<CancelledQuote['outcome']>((resolve, reject) =>
            ledger.request(entry, { resolve, reject }),
          )
          return { orderId, outcome }
        }),
      )
      look()
      return untilAborted(Promise.all(outcomes), signal)
    },
    /** Why what is open could not be ended with a further quote. */
    pauseFor: createEndingPause(parts, toCancel, cancellations),
    /** @returns when no cancellation is followed any more, after the signal has aborted */
    idle: cancellations.idle,
  }
}

/** A quote whose end depends on others, and which nobody can pay for any more, is looked at so often. */
const LATER_SECONDS = 60

/** Builds the looks at open quotes. */
function createQuoteLook(parts: ChainParts, filling: Filling) {
  const { chain, solver, state, time, ledger, addresses, books } = parts

  /** A balance that cannot be read keeps no quote open, unless its cancellation might take tokens from a user. */
  async function balanceOf(
    { quote, isForAddress }: LedgerQuote,
    { depositAddress }: SolverQuote,
    at: AtBlock,
  ) {
    const read = (at?: AtBlock) => readBalance(chain, quote.inputToken, depositAddress, at)
    try {
      return max(...(await Promise.all([read(at), read()])))
    } catch (error) {
      const isEarly = time.due() <= middleOf(quote)
      if (isEarly || (isForAddress && addresses.keepsTokens())) throw error
      return 0n
    }
  }

  async function canSettle(signed: SolverQuote): Promise<boolean> {
    const { quote, orderId } = signed
    const { status = 'QUOTED' } = state.order(orderId) ?? {}
    const isOver = time.passed() > quote.fillDeadline || (status !== 'QUOTED' && status !== 'OPEN')
    if (isPrice(quote) || isOver || isGivenUp(filling.deposits.get(orderId))) return false
    // A payment that needs more is not sent.
    const call = { ...requestOf(solver, settleCall(chain, signed)), gas: chain.maxGas }
    return chain.client.call(call).then(
      () => true,
      () => false,
    )
  }

  /**
   * Ends a quote whose nonce is used by a cancellation. One that was taken is ended by what comes of its order.
   * @param at the block at which the nonce is used: what has used it is read there, too
   */
  async function endQuote(entry: LedgerQuote, first: SolverQuote, at: AtBlock): Promise<void> {
    const { quote, signed } = entry
    const orders = await Promise.all(signed.map(({ orderId }) => readOrder(chain, orderId, at)))
    const taken = orders.find((order) => order.state !== 'NONE')
    ledger.conclude(entry, taken === undefined ? 'CANCELLED' : 'TAKEN')
    if (taken !== undefined) return filling.taken(taken.orderId, taken.fillDeadline)
    if (!isPrice(quote)) for (const each of signed) books.cancelled(termsOf(each))
    ledger.end(first)
  }

  /**
   * Looks at an open quote once. Its nonce is used, and it ends; or its tokens lie at its address, and it is paid or kept; or its nonce
   * is to be used up.
   * @param isSpared whether it may stay open, since it is small and nobody asked for its end
   * @returns whether it is to be cancelled
   * @throws ChainReadError, viem's errors
   */
  return async (entry: LedgerQuote, isSpared: () => boolean): Promise<boolean> => {
    const { quote } = entry
    const [signed] = entry.signed
    if (signed === undefined) return false
    // The newest block, and what came after it. A node that does not have this block must not answer for it.
    const at = time.atDepth(0)
    const [wasUsed, isUsed, balance] = await Promise.all([
      isNonceUsed(chain, solver, quote.nonce, at),
      isNonceUsed(chain, solver, quote.nonce),
      balanceOf(entry, signed, at),
    ])
    if (wasUsed) await endQuote(entry, signed, at)
    // Otherwise a later block says how it has ended: one node may show its use before another one shows its order.
    if (isUsed) return false
    const isPaid = balance >= quote.inputAmount && (await canSettle(signed))
    const [keepsTokens, now] = [addresses.keepsTokens(), time.due()]
    if (!isPaid && !isKept(entry, now, balance, keepsTokens) && !isSpared()) return true
    const isLate = !isPaid && time.passed() > quote.fillDeadline
    ledger.conclude(entry, isPaid ? 'TAKEN' : 'KEPT', isLate ? now + LATER_SECONDS : undefined)
    if (isPaid) filling.deposited(signed.orderId, quote.fillDeadline)
    return false
  }
}
