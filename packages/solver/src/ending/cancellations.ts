import { maxUint256, parseTransaction } from 'viem'
import { estimateGas } from 'viem/actions'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import type { ChainBasics } from '../chain/chain-basics.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { requestOf, settlementCall } from '../chain/contract.js'
import { inPlace } from '../chain/pacing.js'
import { fromWord, type NonceWord, toWords } from '../quoting/nonces.js'
import type { LedgerQuote } from '../risk/quote-ledger.js'
import type { SignedTransaction } from '../state.js'
import { CANCELLATION } from '../transactions/payments.js'
import { withMargin } from '../transactions/transaction-sender.js'

export type Cancellations = ReturnType<typeof createCancellations>

/**
 * Builds the transactions that use up nonces, each followed to its end. They go on after a restart.
 * @param toCancel the quotes that are still to be cancelled
 * @param onEnd a transaction has ended
 */
export function createCancellations(
  parts: ChainParts,
  toCancel: () => readonly LedgerQuote[],
  onEnd: () => void,
) {
  const { chain, solver, time, state, ledger, books, payments, onError, signal } = parts
  const budget = createCancelBudget(parts)
  const prefix = `${CANCELLATION}${chain.chainId} `
  const followed = new Map<string, Promise<void>>()
  /** The gas limit of the last one. It differs between contracts, and on some chains from time to time. */
  let gasOfOne = 0n

  /** What one may cost at present, in wei. */
  const cost = () => gasOfOne * (ledger.holdings()?.gas.maxFeePerGas ?? 0n)

  /** The nonces of one, as the contract takes them; undefined for another transaction. */
  function wordOf(id: string): NonceWord | undefined {
    const [word, mask] = id.startsWith(prefix) ? id.slice(prefix.length).split(' ').map(BigInt) : []
    return word === undefined || mask === undefined ? undefined : { word, mask }
  }

  const entriesOf = (nonces: readonly bigint[]) => nonces.flatMap((nonce) => ledger.get(nonce) ?? [])

  /** Follows one, which is sent if it is not under way. */
  function follow(id: string): void {
    const word = wordOf(id)
    if (word === undefined || followed.has(id) || signal.aborted) return
    const nonces = fromWord(word)
    ledger.setCancelling(entriesOf(nonces), true)
    followed.set(id, inPlace('PAY', () => toEnd(id, word, nonces)).catch(onError))
  }

  async function toEnd(id: string, word: NonceWord, nonces: readonly bigint[]): Promise<void> {
    const onSigned = (transaction: SignedTransaction) => reserve(id, nonces, transaction)
    let fee = 0n
    try {
      if (!payments.isUnderWay(id) && !(await payments.send(id, callOf(word, nonces), onSigned)))
        return leaveOpen(nonces)
      const end = await payments.follow(id, undefined, onSigned)
      if (end === undefined) return
      fee = end.fee
      payments.forget(id)
      onEnd()
    } catch (error) {
      if (!signal.aborted) onError(error)
    } finally {
      followed.delete(id)
      // One that is still under way is followed again by `resume`. What was not sent waits for the next block.
      if (!signal.aborted && !payments.isUnderWay(id)) {
        ledger.setCancelling(entriesOf(nonces), false)
        budget.charge(id, fee)
      }
    }
  }

  /** The budget does not allow the cancellation of these now. */
  function leaveOpen(nonces: readonly bigint[]): void {
    for (const entry of entriesOf(nonces)) ledger.conclude(entry, 'OPEN')
  }

  /** Until its deposit deadline, each gets a transaction of its own, which emits an event. */
  function wordsOf(wanted: readonly LedgerQuote[]): NonceWord[] {
    const quotes = wanted.map(({ quote }) => quote)
    const isShared = ({ depositDeadline }: Quote) => chain.hasWords && time.due() > depositDeadline
    const shared = toWords(quotes.filter(isShared).map(({ nonce }) => nonce))
    return [...shared, ...quotes.filter((quote) => !isShared(quote)).flatMap(({ nonce }) => toWords([nonce]))]
  }

  function callOf({ word, mask }: NonceWord, [nonce = 0n, ...others]: readonly bigint[]) {
    return others.length === 0
      ? settlementCall(chain, 'cancelNonce', [nonce])
      : settlementCall(chain, 'cancelNonces', [word, mask])
  }

  /** How many quotes risk more than each of these, and are still to be cancelled. */
  function countAbove(nonces: readonly bigint[]): number {
    const bonds = entriesOf(nonces).map(({ quote }) => ledger.bondOf(quote))
    return toCancel().filter(({ quote }) => bonds.every((bond) => ledger.bondOf(quote) > bond)).length
  }

  function reserve(id: string, nonces: readonly bigint[], { raw, nonce }: SignedTransaction): boolean {
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw as `0x02${string}`)
    gasOfOne = gas
    // The next orders of the account wait for its nonce: it must be mined, whatever it costs.
    if (state.keptPayments(chain.chainId).some((kept) => kept.status === 'OPEN' && kept.nonce > nonce))
      return true
    return budget.reserve(id, gas * maxFeePerGas, countAbove(nonces))
  }

  return {
    /** Whether as many are under way, with those that these quotes need, as may be. */
    isFull: (ending: readonly LedgerQuote[]) => followed.size + wordsOf(ending).length >= chain.maxPayments,
    /** Learns what a cancellation costs. @throws viem's errors */
    async learn(): Promise<void> {
      const call = settlementCall(chain, 'cancelNonce', [maxUint256])
      gasOfOne = withMargin(await estimateGas(chain.client, requestOf(solver, call)))
    },
    cost,
    budget,
    /** Goes on with those that are under way, and are not followed. */
    resume(): void {
      for (const { id } of state.keptPayments(chain.chainId)) follow(id)
    },
    /** A reorganisation has removed one: it is followed again, and its quotes count again until it is mined. */
    reopen(id: string): void {
      const word = wordOf(id)
      const nonces = word === undefined ? [] : fromWord(word)
      for (const signed of state.endedQuotes(chain.chainId)) {
        if (!nonces.includes(signed.quote.nonce) || state.order(signed.orderId)?.status !== 'QUOTED') continue
        ledger.reopen(signed)
        books.reopened(signed)
      }
      // Their end is wanted, although nobody waits for it.
      for (const entry of entriesOf(nonces)) ledger.request(entry)
      follow(id)
    },
    /**
     * Uses up nonces, as many as may be sent at this time; the others must be given again.
     * @param wanted the most urgent first
     */
    start(wanted: readonly LedgerQuote[]): void {
      for (const word of wordsOf(wanted.filter(({ isCancelling }) => !isCancelling))) {
        if (followed.size >= chain.maxPayments) return
        const id = `${prefix}${word.word} ${word.mask}`
        const nonces = fromWord(word)
        if (budget.reserve(id, cost(), countAbove(nonces))) follow(id)
        else leaveOpen(nonces)
      }
    },
    /** @returns when nothing is followed any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(followed.values())
    },
  }
}

interface Cost {
  /** Of a cancellation that is under way, or of the minute in which others have ended: an hour may have thousands. */
  readonly id: string
  readonly time: number
  readonly wei: string
}

const HOUR_SECONDS = 3_600

/**
 * Bounds what cancellations cost in an hour of the chain's time, in wei. What was spent is kept over restarts.
 */
export function createCancelBudget({ chain, state, time, report }: ChainBasics) {
  const now = time.passed
  const name = `cancellation fees ${chain.chainId}`
  let costs: readonly Cost[] = JSON.parse(state.position(name) ?? '[]')

  const without = (id?: string) => costs.filter((cost) => cost.time > now() - HOUR_SECONDS && cost.id !== id)
  /** What the hour has left. @param id a cancellation that is not counted */
  const left = (id?: string) => without(id).reduce((rest, { wei }) => rest - BigInt(wei), chain.maxCancelFees)

  function put(others: readonly Cost[], id: string, wei: bigint): void {
    costs = [...others, { id, time: now(), wei: String(wei) }]
    state.setPosition(name, JSON.stringify(costs))
  }

  return {
    left,
    /**
     * Counts a cancellation that is about to be sent, at its highest cost; again when its fees are raised.
     * @param above the quotes that risk more, and are still to be cancelled: as much is left for each
     * @returns false when the hour does not allow it
     */
    reserve(id: string, highest: bigint, above = 0): boolean {
      const isWithin = highest * BigInt(1 + above) <= left(id)
      if (isWithin) put(without(id), id, highest)
      else
        report(
          'cancellation',
          new Error(`chain ${chain.chainId}: maxCancelFees of this hour does not pay for a cancellation`),
        )
      return isWithin
    },
    /** Counts what a cancellation has cost in the end: nothing if it was not sent. */
    charge(id: string, wei: bigint): void {
      const minute = `minute ${Math.floor(now() / 60)}`
      const ended = without(id).find((cost) => cost.id === minute)
      const others = without(id).filter((cost) => cost !== ended)
      put(others, minute, wei + BigInt(ended?.wei ?? 0))
    },
  }
}
