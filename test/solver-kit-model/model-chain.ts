import { keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import type { Address, Hex } from '../../src/domain/hex.js'
import { Revert } from './journal.js'
import type { EncodedLog, ModelContracts } from './model-contracts.js'
import { lower } from './settlement-state.js'

/** A transaction that a block has, or that waits. */
export interface ModelTransaction {
  readonly hash: Hex
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  readonly nonce: number
  /** In wei for a unit of gas. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

export interface ModelReceipt {
  readonly transaction: ModelTransaction
  readonly block: ModelBlock
  readonly index: number
  /** Undefined for a success. */
  readonly revert: Revert | undefined
  readonly logs: readonly EncodedLog[]
}

export interface ModelBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  /** Unix time in seconds. */
  readonly timestamp: number
  readonly receipts: ModelReceipt[]
}

/** A refusal of the node's pool. Its message is as those of geth. */
export class PoolError extends Error {}

export const GAS = 200_000n
export const BASE_FEE = 1_000_000_000n
export const TIP = 1_000_000_000n

export type ModelChain = ReturnType<typeof createModelChain>

/**
 * A chain of which a test mines each block.
 * @param signer the account whose signed transactions come
 */
export function createModelChain(contracts: ModelContracts, signer: Address, startTime: number) {
  const blocks: ModelBlock[] = [blockAfter(undefined, startTime)]
  const receipts = new Map<Hex, ModelReceipt>()
  const counts = new Map<Address, number>()
  /** The block after which a signed transaction came first, by its nonce. */
  const sentAfter = new Map<number, number>()
  /** The signed transactions that wait, by nonce. */
  const pool = new Map<number, ModelTransaction>()
  let acts: ModelTransaction[] = []
  let minTip = 0n
  let baseFee = BASE_FEE

  const head = () => blocks.at(-1) as ModelBlock
  const countOf = (account: Address) => counts.get(account) ?? 0

  function execute(transaction: ModelTransaction, block: ModelBlock): void {
    const { from, to, data, hash } = transaction
    counts.set(from, countOf(from) + 1)
    let logs: readonly EncodedLog[] = []
    let revert: Revert | undefined
    try {
      logs = contracts.transact({ sender: from, now: block.timestamp }, to, data)
    } catch (error) {
      if (!(error instanceof Revert)) throw error
      revert = error
    }
    const receipt = { transaction, block, index: block.receipts.length, revert, logs }
    block.receipts.push(receipt)
    receipts.set(hash, receipt)
  }

  function takeSigned(): ModelTransaction[] {
    const taken: ModelTransaction[] = []
    for (let nonce = countOf(signer); pool.has(nonce); nonce++) {
      const transaction = pool.get(nonce) as ModelTransaction
      if (transaction.maxFeePerGas < baseFee) break
      taken.push(transaction)
      pool.delete(nonce)
    }
    return taken
  }

  return {
    contracts,
    blocks: blocks as readonly ModelBlock[],
    head,
    countOf,
    receipt: (hash: Hex) => receipts.get(hash),
    /** What waits of the signer, the first nonce that is free included. */
    pendingCount(): number {
      let nonce = countOf(signer)
      while (pool.has(nonce)) nonce++
      return nonce
    },
    waiting: (hash: Hex) => [...pool.values()].find((transaction) => transaction.hash === hash),
    /** The least tip that the pool takes from now on, in wei. */
    setMinTip(next: bigint): void {
      minTip = next
    },
    baseFee: () => baseFee,
    /** What a transaction must pay at least from now on, in wei for a unit of gas. */
    setBaseFee(next: bigint): void {
      baseFee = next
    },
    sentAfter: (nonce: number) => sentAfter.get(nonce),
    /** Loses what waits in the pool. */
    dropPool: () => pool.clear(),
    /** Takes a signed transaction. @throws PoolError */
    submit(raw: Hex): Hex {
      const parsed = parseTransaction(raw as TransactionSerializedEIP1559)
      const { nonce = 0, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, to, data = '0x' } = parsed
      const hash = keccak256(raw)
      const earlier = pool.get(nonce)
      if (earlier?.hash === hash) throw new PoolError('already known')
      if (nonce < countOf(signer)) throw new PoolError('nonce too low')
      if (maxPriorityFeePerGas < minTip)
        throw new PoolError(
          `transaction underpriced: gas tip cap ${maxPriorityFeePerGas}, minimum needed ${minTip}`,
        )
      if (earlier !== undefined && maxFeePerGas * 10n < earlier.maxFeePerGas * 11n)
        throw new PoolError('replacement transaction underpriced')
      const fees = { maxFeePerGas, maxPriorityFeePerGas }
      if (!sentAfter.has(nonce)) sentAfter.set(nonce, head().number)
      pool.set(nonce, { hash, from: signer, to: lower(to as Address), data, nonce, ...fees })
      return hash
    },
    /** Adds a transaction of anybody to the next block. */
    act(from: Address, to: Address, data: Hex): Hex {
      const nonce = countOf(from) + acts.filter((act) => act.from === from).length
      const hash = keccak256(
        `0x${Buffer.from(`${from} ${nonce} ${acts.length} ${blocks.length}`).toString('hex')}`,
      )
      acts.push({ hash, from, to, data, nonce, maxFeePerGas: BASE_FEE + TIP, maxPriorityFeePerGas: TIP })
      return hash
    },
    /**
     * Mines a block.
     * @param options.signedFirst whether the signer's come before the others
     * @param options.holdsSigned whether the signer's wait on
     */
    mine(timestamp: number, { signedFirst = true, holdsSigned = false } = {}): ModelBlock {
      const block = blockAfter(head(), timestamp)
      const others = acts
      acts = []
      const signed = holdsSigned ? [] : takeSigned()
      const all = signedFirst ? [...signed, ...others] : [...others, ...signed]
      for (const transaction of all) execute(transaction, block)
      blocks.push(block)
      return block
    },
  }
}

function blockAfter(parent: ModelBlock | undefined, timestamp: number): ModelBlock {
  if (parent !== undefined && timestamp <= parent.timestamp)
    throw new Error(`a block at ${timestamp} must come after ${parent.timestamp}`)
  const number = parent === undefined ? 0 : parent.number + 1
  const parentHash: Hex = parent?.hash ?? `0x${'00'.repeat(32)}`
  return { number, hash: `0xb${number.toString(16).padStart(63, '0')}`, parentHash, timestamp, receipts: [] }
}
