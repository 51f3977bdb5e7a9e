import type { Address, Hex } from 'viem'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { requestOf, settleCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { type AtBlock, isNonceUsed, readBalance, readOrder } from '../chain/orders.js'
import type { SolverQuote } from '../orders/fillable-order.js'
import type { Filling } from '../orders/filling.js'
import { createCancelBudget } from '../risk/cancel-budget.js'
import { endingShortage } from '../risk/ending-limits.js'
import { isPrice, type LedgerQuote } from '../risk/quote-ledger.js'
import { beforeAbort } from '../waiting.js'
import { createCancellations } from './cancellations.js'
import { decideEnd, endsAfter } from './ending-rules.js'

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
const PAUSES = {
  FEES: 'maxCancelFees of this hour might not pay for the end of what is open',
  BALANCE: 'the account cannot pay for the gas of what it has promised',
  TIME: 'a fill window is too short to end all that is open: raise minFillSeconds or maxPayments',
}

/** Builds it. */
export function createEnding(parts: ChainParts, filling: Pick<Filling, 'deposited' | 'hasGivenUp'>) {
  const { chain, solver, time, ledger, state, addresses, payments, signal, onError, report } = parts
  const budget = createCancelBudget({ chain, state, now: time.passed, onSpent: onError })
  const cancellations = createCancellations({
    ...parts,
    budget,
    countAbove,
    onEnd: look,
    onUnaffordable: leaveOpen,
  })
  const requested = new Map<bigint, Waiter[]>()
  /** When the next look at a quote is due. */
  const slow = new Map<bigint, number>()
  let looking: Promise<void> = Promise.resolve()
  /** What is not spared in this look. */
  let wanted = new Set<LedgerQuote>()
  let isLookDue = false

  function isDue(entry: LedgerQuote): boolean {
    const { quote, signed, deposit } = entry
    const [first] = signed
    if (first === undefined || deposit === 'CONTRACT') return false
    const isTime = time.passed() > endsAfter(entry) && time.passed() >= (slow.get(quote.nonce) ?? 0)
    if (!isTime && !requested.has(quote.nonce)) return false
    return !cancellations.has(quote.nonce) && !payments.isUnderWay(first.orderId)
  }

  const bondOf = ({ quote }: Pick<LedgerQuote, 'quote'>) => ledger.bondOf(quote)

  /**
   * The quotes that are not spared: `cancelAbove` keeps the first small ones open, so that free requests do not hold `maxOpenBond`. For a
   * day after a slash it keeps none, since whoever slashes one goes on with the next.
   */
  function notSpared(): LedgerQuote[] {
    let spared = addresses.wasSlashed() ? 0 : ledger.mostSpared(chain.cancelAbove)
    const isSpared = (entry: LedgerQuote) => bondOf(entry) <= chain.cancelAbove && spared-- > 0
    return [...ledger.quotes()].filter((entry) => entry.deposit !== 'CONTRACT' && !isSpared(entry))
  }

  /** The quotes that will be cancelled unless somebody takes them, but for those whose cancellation is under way. */
  function openQuotes(): LedgerQuote[] {
    // Tokens that came late keep some open.
    return notSpared().filter(({ quote: { nonce } }) => !cancellations.has(nonce) && !slow.has(nonce))
  }

  function conclude(nonce: bigint, outcome: CancelledQuote['outcome']): void {
    for (const { resolve } of requested.get(nonce) ?? []) resolve(outcome)
    requested.delete(nonce)
  }

  /** The budget does not allow the cancellation of these now. */
  function leaveOpen(nonces: readonly bigint[]): void {
    for (const nonce of nonces) conclude(nonce, 'OPEN')
  }

  /** How many quotes risk more than each of these, and are still to be cancelled. */
  function countAbove(nonces: readonly bigint[]): number {
    const some = nonces.flatMap((nonce) => ledger.get(nonce) ?? [])
    return openQuotes().filter((entry) => some.every((other) => bondOf(entry) > bondOf(other))).length
  }

  /**
   * Its nonce is used: by an order, by a cancellation, or by a refund. A price that was deposited is found by the event of the contract.
   */
  async function end(entry: LedgerQuote): Promise<void> {
    const { quote, isForAddress } = entry
    const orders = await Promise.all(entry.signed.map(({ orderId }) => readOrder(chain, orderId)))
    const taken = orders.find((order) => order.state !== 'NONE')
    conclude(quote.nonce, taken === undefined ? 'CANCELLED' : 'TAKEN')
    // One that others have settled is followed until that is deep, too.
    const isNew = taken?.state === 'SETTLED' && (state.order(taken.orderId)?.status ?? 'OPEN') === 'OPEN'
    if (taken?.state === 'DEPOSITED' || isNew) return filling.deposited(taken.orderId, taken.fillDeadline)
    const cost = ledger.bondOf(taken ?? quote)
    // Others may end an order without a slash.
    if (taken?.state === 'REFUNDED' && addresses.hasCostBond(await parts.refresh(), cost, isForAddress)) {
      const { orderId, chainId } = taken
      const then = isForAddress ? ': quotes for deposit addresses are declined there for 24 hours' : ''
      onError(
        new Error(
          `order ${orderId} on chain ${chainId} was paid for too late and refunded: it has cost ${cost} units of the bond token${then}`,
        ),
      )
      if (state.order(orderId)?.status !== 'MISSED') parts.metrics.missed++
    }
    slow.delete(quote.nonce)
    for (const { orderId } of entry.signed) state.endQuote(orderId, time.passed())
    ledger.end(quote)
  }

  async function canSettle(signed: SolverQuote): Promise<boolean> {
    const { quote, orderId } = signed
    const status = state.order(orderId)?.status ?? 'OPEN'
    if (time.passed() > quote.fillDeadline || status !== 'OPEN' || filling.hasGivenUp(orderId)) return false
    // A payment that needs more is not sent.
    return chain.client.call({ ...requestOf(solver, settleCall(chain, signed)), gas: chain.maxGas }).then(
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

  /** @param at the newest block: what came after it counts as well @returns whether its nonce is to be used up */
  async function lookAt(entry: LedgerQuote, at: AtBlock): Promise<boolean> {
    const { quote } = entry
    const [signed] = entry.signed
    if (signed === undefined) return false
    const [wasUsed, isUsed, balance] = await Promise.all([
      isNonceUsed(chain, solver, quote.nonce, at),
      isNonceUsed(chain, solver, quote.nonce),
      balanceOf(entry, signed.depositAddress, at),
    ])
    if (wasUsed || isUsed) return end(entry).then(() => false)
    const isPaid = balance >= quote.inputAmount
    const decision = decideEnd(entry, {
      time: time.passed(),
      balance,
      canSettle: isPaid && !isPrice(quote) && (await canSettle(signed)),
      isSpared: !wanted.has(entry) && !requested.has(quote.nonce),
      keepsTokens: addresses.keepsTokens(),
    })
    if (decision === 'CANCEL') return true
    conclude(quote.nonce, decision === 'PAY' ? 'TAKEN' : 'KEPT')
    if (decision === 'PAY') filling.deposited(signed.orderId, quote.fillDeadline)
    else if (time.passed() > quote.fillDeadline) slow.set(quote.nonce, time.passed() + SLOW_LOOK_SECONDS)
    return false
  }

  /** One that fails must not keep the others. It is looked at again at each block. */
  async function tryToLookAt(entry: LedgerQuote, at: AtBlock): Promise<boolean> {
    const { nonce } = entry.quote
    try {
      return await lookAt(entry, at)
    } catch (error) {
      report(`look ${entry.quote.inputToken}`, error)
      // Its cancellation goes on later.
      for (const { reject } of requested.get(nonce) ?? []) reject(error)
      return false
    }
  }

  async function lookAtAll(): Promise<void> {
    isLookDue = false
    cancellations.resume()
    for (const nonce of requested.keys())
      if ((ledger.get(nonce)?.deposit ?? 'CONTRACT') === 'CONTRACT') conclude(nonce, 'TAKEN')
    const due = [...ledger.quotes()].filter(isDue)
    // Looks take time as well, so that what risks most is cancelled before others are looked at, and what is over first.
    due.sort(
      (one, other) =>
        Number(bondOf(other) - bondOf(one)) || one.quote.fillDeadline - other.quote.fillDeadline,
    )
    wanted = new Set(notSpared())
    // A node that does not have this block must not answer for it.
    const at = time.atDepth(0)
    for (let from = 0; from < due.length && !signal.aborted; from += LOOKED_AT) {
      const some = due.slice(from, from + LOOKED_AT)
      const isEnding = await Promise.all(some.map((entry) => tryToLookAt(entry, at)))
      cancellations.start(some.filter((_, index) => isEnding[index]).map(({ quote }) => quote))
    }
    await addresses.learn()
  }

  /** Looks at each quote that is due: one look after the other, and one at most waits. */
  function look(): void {
    if (isLookDue) return
    isLookDue = true
    looking = looking.then(lookAtAll).catch((error) => {
      if (!signal.aborted) onError(error)
    })
  }

  return {
    look,
    /** Learns what a cancellation costs. @throws viem's errors */
    learn: async () => cancellations.learn(),
    /** Whether a nonce is being used up. */
    isCancelling: (nonce: bigint) => cancellations.has(nonce),
    /** Goes on with the cancellations that the state has. */
    resume: () => cancellations.resume(),
    /** Cancels quotes before their time. @returns when each has ended @throws viem's errors; the quotes are then cancelled later */
    async cancel(wanted: readonly SolverQuote[]): Promise<CancelledQuote[]> {
      signal.throwIfAborted()
      const outcomes = wanted.map(async ({ orderId, quote: { nonce } }) => ({
        orderId,
        outcome: await new Promise<CancelledQuote['outcome']>((resolve, reject) => {
          requested.set(nonce, [...(requested.get(nonce) ?? []), { resolve, reject }])
        }),
      }))
      look()
      return beforeAbort(signal, Promise.all(outcomes))
    },
    /** Why what is open could not be ended with a further quote; undefined when it could be, or nothing is known of its cost yet. */
    pauseFor(asked: Pick<Quote, 'depositDeadline' | 'fillDeadline'>): string | undefined {
      const gas = ledger.gas()
      if (gas === undefined) return undefined
      const open = openQuotes().map(({ quote }) => quote)
      const orders = [...ledger.quotes()].filter(({ deposit }) => deposit !== 'NONE')
      const windows = [asked, ...open].map(
        ({ depositDeadline, fillDeadline }) => fillDeadline - depositDeadline,
      )
      const shortage = endingShortage(
        {
          quotes: open.length + 1,
          payments: open.length + orders.length + 1,
          fillSeconds: windows.reduce((one, other) => Math.min(one, other)),
        },
        {
          gas,
          cancellationCost: cancellations.cost(),
          feesLeft: budget.left(),
          roundSeconds: time.blockSeconds() + chain.pollIntervalMs / 1000,
          atOnce: chain.maxPayments,
        },
      )
      if (shortage === 'FEES') budget.report()
      if (shortage === 'BALANCE')
        report(
          'balance',
          new Error(
            `${solver} has ${gas.balance} wei on chain ${chain.chainId}, too little for the gas to end or pay all that is open: it does not quote`,
          ),
        )
      return shortage && PAUSES[shortage]
    },
    /** @returns when no cancellation is followed any more, after the signal has aborted */
    idle: async () => cancellations.idle(),
  }
}
