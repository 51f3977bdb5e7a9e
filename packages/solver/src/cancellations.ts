import { encodeFunctionData, parseTransaction } from 'viem'
import { type CancelBudget, OverBudget } from './cancel-budget.js'
import { cancelCall, cancelWordCall } from './chain/orders.js'
import { revertData } from './chain/revert-data.js'
import type { SignedTransaction } from './chain/transactions.js'
import type { ChainParts } from './chain-parts.js'
import { fromWord, type NonceWord, toWords } from './nonces.js'
import type { Payments } from './payments.js'

interface CancellationsOptions extends Pick<ChainParts, 'chain' | 'solver' | 'state' | 'onError' | 'signal'> {
  readonly payments: Payments
  readonly budget: CancelBudget
  /** A transaction has ended. */
  readonly onEnd: () => void
  /** The budget does not allow the cancellation of these now. */
  readonly onUnaffordable: (nonces: readonly bigint[]) => void
}

/** The transactions that use up nonces, each followed to its end. They go on after a restart. */
export type Cancellations = ReturnType<typeof createCancellations>

/** Builds them. */
export function createCancellations(options: CancellationsOptions) {
  const { chain, solver, state, payments, budget, onError, signal } = options
  const prefix = `cancellation ${chain.chainId} `
  const followed = new Map<string, Promise<void>>()
  const nonces = new Set<bigint>()
  /** False once the contract has refused it. */
  let hasWords = true

  const idOf = ({ word, mask }: NonceWord) => `${prefix}${word} ${mask}`
  const isLone = (word: NonceWord) => fromWord(word).length === 1

  function follow(word: NonceWord, work: (id: string) => Promise<void>): void {
    const id = idOf(word)
    if (followed.has(id) || signal.aborted) return
    for (const nonce of fromWord(word)) nonces.add(nonce)
    const ended = work(id)
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
    for (const nonce of fromWord(word)) nonces.delete(nonce)
    // What was not sent waits for the next block.
    if (failure === undefined) options.onEnd()
    else if (isUnaffordable) options.onUnaffordable(fromWord(word))
  }

  const reserve = (id: string) => (transaction: SignedTransaction) =>
    budget.reserve(id, highestCost(transaction))

  async function toEnd(id: string): Promise<void> {
    const end = await payments.follow(id, undefined, reserve(id))
    if (end === undefined) return
    budget.charge(id, end.fee)
    payments.forget(id)
  }

  async function send(id: string, word: NonceWord): Promise<void> {
    const [nonce = 0n] = fromWord(word)
    const call = isLone(word) ? cancelCall(chain, nonce) : cancelWordCall(chain, word)
    await payments.send(id, call, reserve(id))
    await toEnd(id)
  }

  /** A contract without the call reverts, or does nothing at all. */
  async function takes(word: NonceWord): Promise<boolean> {
    const call = cancelWordCall(chain, word)
    try {
      await chain.client.call({ account: solver, to: call.address, data: encodeFunctionData(call) })
      return true
    } catch (error) {
      // An error of the node is not one of the contract: the next look asks again.
      if (revertData(error) === undefined && !isRevert(error)) throw error
      return false
    }
  }

  return {
    /** Whether a transaction with this nonce is under way. */
    has: (nonce: bigint) => nonces.has(nonce),
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
      const fresh = wanted.filter((nonce) => !nonces.has(nonce))
      if (fresh.length > 0 && !budget.isWorthATry()) return options.onUnaffordable(fresh)
      const words = toWords(fresh)
      const [first] = words
      if (!isAlone && hasWords && first !== undefined && !words.every(isLone)) {
        const many = words.find((word) => !isLone(word)) as NonceWord
        hasWords = await takes(many)
      }
      const wordsAtOnce = isAlone || !hasWords ? fresh.flatMap((nonce) => toWords([nonce])) : words
      for (const word of wordsAtOnce) {
        if (followed.size >= chain.maxPayments) return
        follow(word, (id) => send(id, word))
      }
    },
    /** @returns when nothing is followed any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(followed.values())
    },
  }
}

function highestCost({ raw }: SignedTransaction): bigint {
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw as `0x02${string}`)
  return gas * maxFeePerGas
}

/** Nodes report a revert without data by its words. */
function isRevert(error: unknown): boolean {
  return /revert/i.test(String((error as Error).message))
}
