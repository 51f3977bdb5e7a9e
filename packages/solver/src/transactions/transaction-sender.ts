import { type Hex, keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { estimateGas } from 'viem/actions'
import { wordsOf } from '../../../protocol/src/node/node-words.js'
import { numberIn } from '../../../protocol/src/node/parse-blocks.js'
import type { ChainBasics } from '../chain/chain-basics.js'
import { type AtBlock, type Call, requestOf } from '../chain/contract.js'
import type { SignedTransaction } from '../state.js'
import { min, readMarket } from './fees.js'

/** A transaction without the account's nonce. */
type Unsigned = ReturnType<typeof parsedOf>

/** Keeps a transaction before it is sent. It is not sent when that returns false or throws. */
type Keep = (transaction: SignedTransaction) => boolean

/** What was last offered to the node. */
export interface Offer {
  /** The attempt that the node has taken, or of two that it has refused, the one with lower fees. */
  readonly offer: SignedTransaction
  /** The node's error if it has taken neither: then fees are not the cause. */
  readonly refusal: unknown
}

/**
 * The end of a payment, the gas that it has used, and what that has cost in wei. `failed`: another transaction has its nonce, its deadline is over, or its receipt
 * does not say. `dropped`: an empty transaction has taken its nonce, since no block has taken the payment.
 */
export interface PaymentEnd {
  readonly outcome: 'success' | 'reverted' | 'failed' | 'dropped'
  readonly hash: Hex | undefined
  readonly gasUsed: bigint
  readonly fee: bigint
  /** Undefined where the receipt does not say it. */
  readonly blockNumber?: bigint | undefined
}

/** Sends the transactions of an account on one chain. No other program may use the account there. */
export type TransactionSender = ReturnType<typeof createTransactionSender>

/** The state may change between the estimate and the block. */
const GAS_MARGIN = { factor: 12n, divisor: 10n }
/** Of a transaction that does nothing. Rollups add the cost of its data. */
const TRANSFER_GAS = 100_000n
/** By the status of a receipt. */
const OUTCOMES = ['reverted', 'success'] as const

/** Builds the sender. */
export function createTransactionSender({ chain, account, state, time }: ChainBasics) {
  const { chainId, client } = chain
  const { address } = account
  /** Uses up a nonce. */
  const empty = { to: address, data: undefined, gas: TRANSFER_GAS }
  let signing: Promise<unknown> = Promise.resolve()
  /** The tip that the node has taken after it had refused half of it. It falls with each transaction, so that a lower one is tried. */
  let leastTip = 0n
  /** The data of those that reverted: the node's estimates may be too low. */
  const reverted = new Set<Hex>()

  /** The number of nonces that are used. @throws viem's errors */
  const usedAt = (at: AtBlock = {}) => client.getTransactionCount({ address, ...at })

  async function sign(request: Unsigned, nonce: number): Promise<SignedTransaction> {
    const raw = (await account.signTransaction({ ...request, chainId, type: 'eip1559', nonce })) as Hex
    return { hash: keccak256(raw), raw, nonce }
  }

  /**
   * One after the other, so that no two transactions take the same nonce, and without a call of the node in between. What waits is kept:
   * what the node says of it could leave a gap that nothing fills. It may have lost one that is kept, and says then that its nonce is free.
   */
  function signNext(request: Unsigned, used: number, keep: Keep): Promise<SignedTransaction | undefined> {
    const signed = signing.then(async () => {
      const kept = state.keptPayments(chainId).at(-1)
      const transaction = await sign(request, Math.max(used, (kept?.nonce ?? -1) + 1))
      return keep(transaction) ? transaction : undefined
    })
    signing = signed.catch(() => {})
    return signed
  }

  /**
   * Sends a transaction, and once more with twice the fees when the node refuses it: its minimum is not in what it suggests.
   * @throws viem's errors, and those of the account
   */
  async function offer(first: SignedTransaction, keep: Keep): Promise<Offer> {
    const refusal = await broadcast(first)
    if (refusal === undefined) return { offer: first, refusal }
    const parsed = parsedOf(first)
    const fees = (await readMarket(chain)).doubled(parsed, wordsOf(refusal))
    if (fees === undefined) return { offer: first, refusal }
    const second = await sign({ ...parsed, ...fees }, first.nonce)
    const again = keep(second) ? await broadcast(second) : refusal
    if (again !== undefined) return { offer: first, refusal: again }
    leastTip = fees.maxPriorityFeePerGas
    return { offer: second, refusal: undefined }
  }

  /**
   * @returns the node's error, if it did not take it. What is known or mined is no refusal, whatever the node has answered.
   * @throws viem's errors
   */
  async function broadcast({ hash, raw, nonce }: SignedTransaction): Promise<unknown> {
    try {
      await client.sendRawTransaction({ serializedTransaction: raw })
      return undefined
    } catch (refusal) {
      const [transaction, used] = await Promise.all([
        client.request({ method: 'eth_getTransactionByHash', params: [hash] }),
        usedAt(),
      ])
      return transaction || used > nonce ? undefined : refusal
    }
  }

  /** @returns undefined without a receipt. One without its costs counts with the highest ones: `maxCancelFees` must hold. */
  async function outcomeOf(attempt: SignedTransaction): Promise<PaymentEnd | undefined> {
    const { hash } = attempt
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (!receipt) return undefined
    const { data = '0x', gas = 0n, maxFeePerGas } = parsedOf(attempt)
    const outcome = data === '0x' ? 'dropped' : (OUTCOMES[numberIn(receipt.status) ?? -1] ?? 'failed')
    if (outcome === 'reverted') reverted.add(data)
    const price = numberIn(receipt.effectiveGasPrice) ?? maxFeePerGas
    const gasUsed = BigInt(numberIn(receipt.gasUsed) ?? gas)
    const block = numberIn(receipt.blockNumber)
    const blockNumber = block === undefined ? undefined : BigInt(block)
    return { outcome, hash, gasUsed, fee: gasUsed * BigInt(price), blockNumber }
  }

  return {
    /**
     * Signs a transaction and sends it. A call that would revert, or needs more gas than `maxGas`, throws before anything is signed.
     * @returns undefined when it is not kept
     * @throws viem's errors, and those of the account
     */
    async send(call: Call, keep: Keep): Promise<Offer | undefined> {
      const simulated = requestOf(address, call)
      const [gas, { first }, used] = await Promise.all([
        estimateGas(client, simulated),
        readMarket(chain, leastTip),
        usedAt(),
      ])
      leastTip = (leastTip * 7n) / 8n
      // A hostile token may burn gas in each transfer.
      if (gas > chain.maxGas)
        throw new Error(
          `${call.functionName} needs ${gas} gas, which is above maxGas (${chain.maxGas}), so it is not sent`,
        )
      const { to, data } = simulated
      const limit = reverted.has(data) ? chain.maxGas : min(withMargin(gas), chain.maxGas)
      const signed = await signNext({ to, data, gas: limit, ...first }, used, keep)
      return signed && offer(signed, keep)
    },
    offer,
    /** Whether a first attempt would offer more by now. @throws viem's errors */
    isTooCheap: async (last: SignedTransaction) =>
      parsedOf(last).maxFeePerGas < (await readMarket(chain, leastTip)).first.maxFeePerGas,
    /**
     * Signs the same transaction with the same nonce and higher fees, which nodes take in the place of the earlier one.
     * @param isDropped an empty one takes its place; with the same fees when the limit leaves no room, as a node that has refused the
     * first one takes it
     * @returns undefined when the limit of fees leaves no room
     * @throws viem's errors, and those of the account
     */
    async raise(last: SignedTransaction, isDropped: boolean): Promise<SignedTransaction | undefined> {
      const earlier = parsedOf(last)
      const fees = (await readMarket(chain, leastTip)).raised(earlier)
      if (isDropped) return sign({ ...earlier, ...empty, ...fees }, last.nonce)
      return fees && sign({ ...earlier, ...fees }, last.nonce)
    },
    /** How many nonces are used, and how many at a block that no reorganisation is expected to remove. @throws viem's errors */
    async usedNonces() {
      const [now, deep] = await Promise.all([usedAt(), usedAt(time.atDepth())])
      return { now, deep }
    },
    /**
     * How far transactions with one nonce have come, of which one at most can be mined. `REPLACED`: another one has the nonce. `NEXT`: the
     * account's next one. `QUEUED`: it waits for earlier ones of the account.
     * @param attempts at least one
     * @throws viem's errors
     */
    async progress(attempts: readonly SignedTransaction[]) {
      const nonce = attempts[0]?.nonce ?? 0
      const used = await usedAt()
      if (used <= nonce) return { state: used === nonce ? 'NEXT' : 'QUEUED' } as const
      for (const attempt of attempts.toReversed()) {
        const outcome = await outcomeOf(attempt)
        if (outcome !== undefined) return { state: 'MINED', ...outcome } as const
      }
      return { state: 'REPLACED' } as const
    },
  }
}

function parsedOf({ raw }: SignedTransaction) {
  const parsed = parseTransaction(raw as TransactionSerializedEIP1559)
  const { to, data, gas, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parsed
  return { to, data, gas, maxFeePerGas, maxPriorityFeePerGas }
}

/** The gas limit for an estimate. */
export function withMargin(estimate: bigint): bigint {
  return (estimate * GAS_MARGIN.factor) / GAS_MARGIN.divisor
}
