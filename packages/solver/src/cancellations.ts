import { encodeFunctionData, maxUint256, parseTransaction } from 'viem'
import { estimateGas } from 'viem/actions'
import { type CancelBudget, OverBudget } from './cancel-budget.js'
import { cancelCall, cancelWordCall } from './chain/orders.js'
import { revertData } from './chain/revert-data.js'
import { type SignedTransaction, withMargin } from './chain/transactions.js'
import type { ChainParts } from './chain-parts.js'
import { fromWord, type NonceWord, toWords } from './nonces.js'
import type { Payments } from './payments.js'

interface CancellationsOptions
  extends Pick<ChainParts, 'chain' | 'solver' | 'state' | 'ledger' | 'onError' | 'signal'> {
  readonly payments: Payments
  readonly budget: CancelBudget
  /** How many open quotes risk more than each of these. */
  readonly countAbove: (nonces: readonly bigint[]) => number
  /** A transaction has ended. */
  readonly onEnd: () => void
  /** The budget does not allow the cancellation of these now. */
  readonly onUnaffordable: (nonces: readonly bigint[]) => void
}

/** The transactions that use up nonces, each followed to its end. They go on after a restart. */
export type Cancellations = ReturnType<typeof createCancellations>

/** Builds them. */
export function createCancellations(options: CancellationsOptions) {
  const { chain, solver, state, ledger, payments, budget, onError, signal } = options
  const prefix = `cancellation ${chain.chainId} `
  const followed = new Map<string, Promise<void>>()
  const nonces = new Set<bigint>()
  /** Whether the contract has `cancelNonces`; undefined until it is known. */
  let hasWords: boolean | undefined
  /** The gas limit of the last one. It differs between contracts, and on some chains from time to time. */
  let gasOfOne = 0n

  /** What one may cost at present, in wei. */
  const cost = () => gasOfOne * (ledger.gas()?.maxFeePerGas ?? 0n)
  const idOf = ({ word, mask }: NonceWord) => `${prefix}${word} ${mask}`
  const isLone = (word: NonceWord) => fromWord(word).length === 1

  function follow(word: NonceWord, work: (id: string, word: NonceWord) => Promise<void>): void {
    const id = idOf(word)
    if (followed.has(id) || signal.aborted) return
    for (const nonce of fromWord(word)) nonces.add(nonce)
    const ended = work(id, word)
      .then(
        () => undefined,
        (error) => ({ error }),
      )
      .then((failure) => {
        followed.delete(id)
        if (!signal.aborted) onFollowed(word, failure)
      })
    followed.set(id, ended)
  }

  function onFollowed(word: NonceWord, failure: { readonly error: unknown } | undefined): void {
    const isUnaffordable = failure?.error instanceof OverBudget
    // The budget reports itself.
    if (failure !== undefined && !isUnaffordable) onError(failure.error)
    // One that is still under way is followed again by `resume`.
    if (payments.isUnderWay(idOf(word))) return
    if (failure !== undefined) budget.charge(idOf(word), 0n)
    for (const nonce of fromWord(word)) nonces.delete(nonce)
    // What was not sent waits for the next block.
    if (failure === undefined) options.onEnd()
    else if (isUnaffordable) options.onUnaffordable(fromWord(word))
  }

  const reserve = (id: string, word: NonceWord) => (transaction: SignedTransaction) => {
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(transaction.raw as `0x02${string}`)
    gasOfOne = gas
    if (!budget.reserve(id, gas * maxFeePerGas, options.countAbove(fromWord(word))))
      throw new OverBudget('maxCancelFees')
  }

  async function toEnd(id: string, word: NonceWord): Promise<void> {
    const end = await payments.follow(id, undefined, reserve(id, word))
    if (end === undefined) return
    budget.charge(id, end.fee)
    payments.forget(id)
  }

  async function send(id: string, word: NonceWord): Promise<void> {
    const [nonce = 0n] = fromWord(word)
    const call = isLone(word) ? cancelCall(chain, nonce) : cancelWordCall(chain, word)
    await payments.send(id, call, reserve(id, word))
    await toEnd(id, word)
  }

  /** Asks for the end of no nonce. */
  async function takesWords(): Promise<boolean> {
    const call = cancelWordCall(chain, { word: 0n, mask: 0n })
    try {
      await chain.client.call({ account: solver, to: call.address, data: encodeFunctionData(call) })
      return true
    } catch (error) {
      // An error of the node is not one of the contract: the next look asks again.
      if (revertData(error) === undefined && !isRevert(error)) throw error
      return false
    }
  }

  /** Learns what a cancellation costs, and whether one may end many quotes. @throws viem's errors */
  async function learn(): Promise<void> {
    if (hasWords !== undefined) return
    const call = cancelCall(chain, maxUint256)
    const data = encodeFunctionData(call)
    gasOfOne = withMargin(await estimateGas(chain.client, { account: solver, to: call.address, data }))
    hasWords = await takesWords()
  }

  return {
    /** Whether a transaction with this nonce is under way. */
    has: (nonce: bigint) => nonces.has(nonce),
    learn,
    /** Whether the contract is known to have `cancelNonces`. */
    hasWords: () => hasWords === true,
    /** How many transactions end so many quotes at once. */
    countFor: (ending: readonly bigint[]) => (hasWords ? toWords(ending) : ending).length,
    cost,
    /** Goes on with those that are under way, and are not followed. */
    resume(): void {
      for (const { id } of state.waitingPayments(chain.chainId)) {
        if (!id.startsWith(prefix)) continue
        const [word = '0', mask = '0'] = id.slice(prefix.length).split(' ')
        follow({ word: BigInt(word), mask: BigInt(mask) }, toEnd)
      }
    },
    /**
     * Uses up nonces, as many as may be sent at this time; the others must be given again.
     * @param wanted the most urgent first
     * @param isAlone cancels each by a transaction of its own, which emits an event
     */
    async start(wanted: readonly bigint[], isAlone: boolean): Promise<void> {
      await learn()
      const fresh = wanted.filter((nonce) => !nonces.has(nonce))
      const words = isAlone || !hasWords ? fresh.flatMap((nonce) => toWords([nonce])) : toWords(fresh)
      for (const [index, word] of words.entries()) {
        if (followed.size >= chain.maxPayments) return
        const above = options.countAbove(fromWord(word))
        // What risks less is not affordable either.
        if (!budget.reserve(idOf(word), cost(), above))
          return options.onUnaffordable(words.slice(index).flatMap(fromWord))
        follow(word, send)
      }
    },
    /** @returns when nothing is followed any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(followed.values())
    },
  }
}

/** Nodes report a revert without data by its words. */
function isRevert(error: unknown): boolean {
  return /revert/i.test(String((error as Error).message))
}
