import { maxUint256, parseTransaction } from 'viem'
import { estimateGas } from 'viem/actions'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { requestOf, settlementCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { inPlace } from '../chain/pacing.js'
import { fromWord, type NonceWord, toWords } from '../quoting/nonces.js'
import { type CancelBudget, OverBudget } from '../risk/cancel-budget.js'
import type { SignedTransaction } from '../state.js'
import { CANCELLATION } from '../transactions/payment-names.js'
import { withMargin } from '../transactions/transaction-sender.js'

interface CancellationsOptions extends ChainParts {
  readonly budget: CancelBudget
  /** How many open quotes risk more than each of these. */
  readonly countAbove: (nonces: readonly bigint[]) => number
  /** A transaction has ended. */
  readonly onEnd: () => void
  /** The budget does not allow the cancellation of these now. */
  readonly onUnaffordable: (nonces: readonly bigint[]) => void
}

export type Cancellations = ReturnType<typeof createCancellations>

/** Builds the transactions that use up nonces, each followed to its end. They go on after a restart. */
export function createCancellations(options: CancellationsOptions) {
  const { chain, solver, time, state, ledger, payments, budget, onError, signal } = options
  const prefix = `${CANCELLATION}${chain.chainId} `
  const followed = new Map<string, Promise<void>>()
  const nonces = new Set<bigint>()
  /** The gas limit of the last one. It differs between contracts, and on some chains from time to time. */
  let gasOfOne = 0n

  /** What one may cost at present, in wei. */
  const cost = () => gasOfOne * (ledger.holdings()?.gas.maxFeePerGas ?? 0n)
  const idOf = ({ word, mask }: NonceWord) => `${prefix}${word} ${mask}`

  function wordOf(id: string): NonceWord | undefined {
    if (!id.startsWith(prefix)) return undefined
    const [word = '0', mask = '0'] = id.slice(prefix.length).split(' ')
    return { word: BigInt(word), mask: BigInt(mask) }
  }

  function follow(word: NonceWord, work: (id: string, word: NonceWord) => Promise<void>): void {
    const id = idOf(word)
    if (followed.has(id) || signal.aborted) return
    for (const nonce of fromWord(word)) nonces.add(nonce)
    const ended = inPlace('PAY', () => work(id, word)).then(
      () => onFollowed(id, word),
      (error) => onFollowed(id, word, error),
    )
    followed.set(id, ended.catch(onError))
  }

  /** @param error why it was not sent, or is not followed any more */
  function onFollowed(id: string, word: NonceWord, error?: unknown): void {
    followed.delete(id)
    if (signal.aborted) return
    const isUnaffordable = error instanceof OverBudget
    // The budget reports itself.
    if (error !== undefined && !isUnaffordable) onError(error)
    // One that is still under way is followed again by `resume`.
    if (payments.isUnderWay(id)) return
    for (const nonce of fromWord(word)) nonces.delete(nonce)
    if (error !== undefined) budget.charge(id, 0n)
    // What was not sent waits for the next block.
    if (error === undefined) options.onEnd()
    else if (isUnaffordable) options.onUnaffordable(fromWord(word))
  }

  /** Until its deposit deadline, each gets a transaction of its own, which emits an event. */
  function wordsOf(wanted: readonly Quote[]): NonceWord[] {
    const isShared = ({ depositDeadline }: Quote) => chain.hasWords && time.due() > depositDeadline
    const shared = toWords(wanted.filter(isShared).map(({ nonce }) => nonce))
    const lone = wanted.filter((quote) => !isShared(quote)).flatMap(({ nonce }) => toWords([nonce]))
    return [...shared, ...lone]
  }

  const reserve = (id: string, word: NonceWord) => (transaction: SignedTransaction) => {
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(transaction.raw as `0x02${string}`)
    gasOfOne = gas
    // The next orders of the account wait for its nonce: it must be mined, whatever it costs.
    const { nonce } = transaction
    if (state.keptPayments(chain.chainId).some((kept) => kept.status === 'OPEN' && kept.nonce > nonce))
      return true
    return budget.reserve(id, gas * maxFeePerGas, options.countAbove(fromWord(word)))
  }

  async function toEnd(id: string, word: NonceWord): Promise<void> {
    const end = await payments.follow(id, undefined, reserve(id, word))
    if (end === undefined) return
    budget.charge(id, end.fee)
    payments.forget(id)
  }

  async function send(id: string, word: NonceWord): Promise<void> {
    const [nonce = 0n, ...others] = fromWord(word)
    const call =
      others.length === 0
        ? settlementCall(chain, 'cancelNonce', [nonce])
        : settlementCall(chain, 'cancelNonces', [word.word, word.mask])
    await payments.send(id, call, reserve(id, word))
    await toEnd(id, word)
  }

  return {
    /** Whether as many are under way, with those that these quotes need, as may be. */
    isFull: (ending: readonly Quote[]) => followed.size + wordsOf(ending).length >= chain.maxPayments,
    /** Whether a transaction with this nonce is under way. */
    has: (nonce: bigint) => nonces.has(nonce),
    /** Learns what a cancellation costs. @throws viem's errors */
    async learn(): Promise<void> {
      const call = settlementCall(chain, 'cancelNonce', [maxUint256])
      gasOfOne = withMargin(await estimateGas(chain.client, requestOf(solver, call)))
    },
    cost,
    /** Goes on with those that are under way, and are not followed. */
    resume(): void {
      for (const { id } of state.keptPayments(chain.chainId)) {
        const word = wordOf(id)
        if (word !== undefined) follow(word, toEnd)
      }
    },
    /** One that has ended is under way again. @returns its nonces; none for another transaction */
    reopen(id: string): readonly bigint[] {
      const word = wordOf(id)
      if (word === undefined) return []
      follow(word, toEnd)
      return fromWord(word)
    },
    /**
     * Uses up nonces, as many as may be sent at this time; the others must be given again.
     * @param wanted the most urgent first
     */
    start(wanted: readonly Quote[]): void {
      for (const word of wordsOf(wanted.filter(({ nonce }) => !nonces.has(nonce)))) {
        if (followed.size >= chain.maxPayments) return
        const ending = fromWord(word)
        const isAffordable = budget.reserve(idOf(word), cost(), options.countAbove(ending))
        if (isAffordable) follow(word, send)
        else options.onUnaffordable(ending)
      }
    },
    /** @returns when nothing is followed any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(followed.values())
    },
  }
}
