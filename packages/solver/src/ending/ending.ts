import { untilAborted } from '../../../client/src/calls/abort.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { inPlace } from '../chain/pacing.js'
import type { Filling } from '../orders/filling.js'
import type { QuotedOrder, SolverQuote } from '../orders/order-terms.js'
import { createCancelBudget } from '../risk/cancel-budget.js'
import { quotedOf } from '../risk/exposure.js'
import type { LedgerQuote } from '../risk/quote-ledger.js'
import { askToCancel, type CancelledQuote, conclude } from './cancel-requests.js'
import { createCancellations } from './cancellations.js'
import { createEndingPause } from './ending-pause.js'
import { endsAfter, isLastPayment } from './ending-rules.js'
import { createQuoteLook } from './quote-look.js'

/**
 * Ends the quotes of a chain that were not taken: the one place where they leave the ledger without a deposit at the contract. An open
 * quote goes this way:
 * 1. It is due when its time has come (`endsAfter`), or when the market maker wants it to be cancelled.
 * 2. A look asks the chain (`quote-look.ts`). If its nonce is used, it ends. If its tokens are there, it is paid or kept.
 * 3. Otherwise a cancellation uses up its nonce (`cancellations.ts`), and the next look ends it.
 */
export type Ending = ReturnType<typeof createEnding>

/** Builds the ending of a chain. */
export function createEnding(parts: ChainParts, filling: Filling) {
  const { chain, time, ledger, state, addresses, losses, books, payments, signal, onError, report } = parts
  const budget = createCancelBudget(parts)
  const cancellations = createCancellations(parts, budget, toCancel, look)
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
    for (const entry of ledger.quotes()) if (entry.deposit === 'CONTRACT') conclude(entry, 'TAKEN')
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
    if (!isTime && entry.requests === undefined) return false
    // A first look at an order says what its quote needs, too.
    const isUnread = filling.deposits.get(first.orderId)?.isSeen === false
    return !isUnread && !entry.isCancelling && !payments.isUnderWay(first.orderId)
  }

  /** One that fails must not keep the others. It is looked at again at each block. */
  async function tryToLookAt(entry: LedgerQuote, kept: ReadonlySet<LedgerQuote>): Promise<boolean> {
    try {
      return await lookAtQuote(entry, () => kept.has(entry) && entry.requests === undefined)
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
    /** A reorganisation has removed a cancellation: it is followed again, and its quotes count again until it is mined. */
    reopen(id: string): void {
      const nonces = cancellations.noncesOf(id)
      for (const signed of state.endedQuotes(chain.chainId)) {
        if (!nonces.includes(signed.quote.nonce) || state.order(signed.orderId)?.status !== 'QUOTED') continue
        ledger.reopen(signed)
        books.reopened(signed)
        // Its end is wanted, although nobody waits for it.
        const entry = ledger.get(signed.quote.nonce)
        if (entry !== undefined) entry.requests ??= []
      }
      cancellations.resume()
    },
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
          return { orderId, outcome: await askToCancel(entry) }
        }),
      )
      look()
      return untilAborted(Promise.all(outcomes), signal)
    },
    /** Why what is open could not be ended with a further quote. */
    pauseFor: createEndingPause(parts, toCancel, cancellations, budget),
    /** @returns when no cancellation is followed any more, after the signal has aborted */
    idle: cancellations.idle,
  }
}
