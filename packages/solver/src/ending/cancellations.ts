import { maxUint256, parseTransaction } from 'viem'
import { estimateGas } from 'viem/actions'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { requestOf, settlementCall } from '../chain/contract.js'
import { inPlace } from '../chain/pacing.js'
import { fromWord, type NonceWord, toWords } from '../quoting/nonces.js'
import { type CancelBudget, OverBudget } from '../risk/cancel-budget.js'
import { conclude, type LedgerQuote } from '../risk/quote-ledger.js'
import type { SignedTransaction } from '../state.js'
import { CANCELLATION } from '../transactions/payment-names.js'
import { withMargin } from '../transactions/transaction-sender.js'

export type Cancellations = ReturnType<typeof createCancellations>

/**
 * Builds the transactions that use up nonces, each followed to its end. They go on after a restart.
 * @param toCancel the quotes that are still to be cancelled
 * @param onEnd a transaction has ended
 */
export function createCancellations(
  { chain, solver, time, state, ledger, payments, onError, signal }: ChainParts,
  budget: CancelBudget,
  toCancel: () => readonly LedgerQuote[],
  onEnd: () => void,
) {
  const prefix = `${CANCELLATION}${chain.chainId} `
  const followed = new Map<string, Promise<void>>()
  /** The gas limit of the last one. It differs between contracts, and on some chains from time to time. */
  let gasOfOne = 0n

  /** What one may cost at present, in wei. */
  const cost = () => gasOfOne * (ledger.holdings()?.gas.maxFeePerGas ?? 0n)

  /** The nonces of one; none for another transaction. */
  function noncesOf(id: string): readonly bigint[] {
    const [word, mask] = id.startsWith(prefix) ? id.slice(prefix.length).split(' ').map(BigInt) : []
    return word === undefined || mask === undefined ? [] : fromWord({ word, mask })
  }

  const entriesOf = (nonces: readonly bigint[]) => nonces.flatMap((nonce) => ledger.get(nonce) ?? [])

  /** @param word to be sent; undefined for one that was sent */
  function follow(id: string, word?: NonceWord): void {
    const nonces = noncesOf(id)
    if (nonces.length === 0 || followed.has(id) || signal.aborted) return
    for (const entry of entriesOf(nonces)) entry.isCancelling = true
    followed.set(id, inPlace('PAY', () => toEnd(id, nonces, word)).catch(onError))
  }

  async function toEnd(id: string, nonces: readonly bigint[], word?: NonceWord): Promise<void> {
    const onSigned = (transaction: SignedTransaction) => reserve(id, nonces, transaction)
    try {
      if (word !== undefined) await payments.send(id, callOf(word, nonces), onSigned)
      const end = await payments.follow(id, undefined, onSigned)
      if (end === undefined) return
      budget.charge(id, end.fee)
      payments.forget(id)
      onEnd()
    } catch (error) {
      if (signal.aborted) return
      // The budget reports itself.
      if (!(error instanceof OverBudget)) onError(error)
      // One that is still under way is followed again by `resume`. What was not sent waits for the next block.
      if (payments.isUnderWay(id)) return
      budget.charge(id, 0n)
      if (error instanceof OverBudget) leaveOpen(nonces)
    } finally {
      followed.delete(id)
      if (!signal.aborted && !payments.isUnderWay(id))
        for (const entry of entriesOf(nonces)) entry.isCancelling = false
    }
  }

  /** The budget does not allow the cancellation of these now. */
  function leaveOpen(nonces: readonly bigint[]): void {
    for (const entry of entriesOf(nonces)) conclude(entry, 'OPEN')
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
    /** Goes on with those that are under way, and are not followed. */
    resume(): void {
      for (const { id } of state.keptPayments(chain.chainId)) follow(id)
    },
    noncesOf,
    /**
     * Uses up nonces, as many as may be sent at this time; the others must be given again.
     * @param wanted the most urgent first
     */
    start(wanted: readonly LedgerQuote[]): void {
      for (const word of wordsOf(wanted.filter(({ isCancelling }) => !isCancelling))) {
        if (followed.size >= chain.maxPayments) return
        const id = `${prefix}${word.word} ${word.mask}`
        const nonces = noncesOf(id)
        if (budget.reserve(id, cost(), countAbove(nonces))) follow(id, word)
        else leaveOpen(nonces)
      }
    },
    /** @returns when nothing is followed any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(followed.values())
    },
  }
}
