import { keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { Revert, type Step } from './journal.js'
import type { EncodedLog, ModelContracts } from './model-contracts.js'

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
  /** What it has changed, in its order. */
  readonly steps: Step[]
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
  const blocks: ModelBlock[] = []
  /** All blocks by their hash, also those that have left the chain: nodes keep them for a time. */
  const known = new Map<Hex, ModelBlock>()
  const receipts = new Map<Hex, ModelReceipt>()
  const counts = new Map<Address, number>()
  /** The block after which a signed transaction was sent first, by its nonce. */
  const sentAfter = new Map<number, number>()
  /** The signed transactions that wait, by nonce. */
  const pool = new Map<number, ModelTransaction>()
  let acts: ModelTransaction[] = []
  let forks = 0
  let minTip = 0n
  let baseFee = BASE_FEE

  const head = () => blocks.at(-1) as ModelBlock
  const countOf = (account: Address) => counts.get(account) ?? 0

  function execute(transaction: ModelTransaction, block: ModelBlock): void {
    const { from, to, data, hash } = transaction
    const count = countOf(from)
    const step = { undo: () => void counts.set(from, count), redo: () => void counts.set(from, count + 1) }
    step.redo()
    block.steps.push(step)
    let logs: readonly EncodedLog[] = []
    let revert: Revert | undefined
    try {
      const done = contracts.transact({ sender: from, now: block.timestamp }, to, data)
      logs = done.logs
      block.steps.push(...done.steps)
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

  function append(block: ModelBlock): ModelBlock {
    blocks.push(block)
    known.set(block.hash, block)
    return block
  }

  function rollBack(depth: number): ModelBlock[] {
    forks++
    const removed = blocks.splice(Math.max(0, blocks.length - depth))
    for (const { steps } of removed.toReversed()) for (const step of steps.toReversed()) step.undo()
    for (const { receipts: all } of removed)
      for (const { transaction } of all) receipts.delete(transaction.hash)
    return removed
  }

  append(blockAfter(undefined, startTime))

  return {
    contracts,
    blocks: blocks as readonly ModelBlock[],
    head,
    /** A block by its hash, also one that has left the chain. */
    known: (hash: Hex) => known.get(hash),
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
      // Whoever has sent it does not know that nobody keeps what the node refuses.
      if (!sentAfter.has(nonce)) sentAfter.set(nonce, head().number)
      if (maxPriorityFeePerGas < minTip)
        throw new PoolError(
          `transaction underpriced: gas tip cap ${maxPriorityFeePerGas}, minimum needed ${minTip}`,
        )
      if (earlier !== undefined && maxFeePerGas * 10n < earlier.maxFeePerGas * 11n)
        throw new PoolError('replacement transaction underpriced')
      const fees = { maxFeePerGas, maxPriorityFeePerGas }
      pool.set(nonce, { hash, from: signer, to: lowerCase(to as Address), data, nonce, ...fees })
      return hash
    },
    /**
     * Replaces the newest blocks by as many without transactions and another one, with the same times.
     * @param time of the last one
     * @param fate of each transaction that was removed: what to do with it, at which of the new blocks, from 0
     * @returns what was removed, and what is new
     */
    reorganise(
      depth: number,
      time: number,
      fate: (transaction: ModelTransaction) => 'lost' | 'waiting' | number,
    ): { readonly removed: readonly ModelBlock[]; readonly added: readonly ModelBlock[] } {
      const removed = rollBack(depth)
      const added = [...removed.map(({ timestamp }) => timestamp), time].map((timestamp) =>
        append(blockAfter(head(), timestamp, forks)),
      )
      // As they were until a transaction of this block: those of new blocks are executed one block after the other.
      const fates = removed
        .flatMap(({ receipts: all }) => all)
        .map(({ transaction }) => ({ transaction, what: fate(transaction) }))
      for (const { transaction, what } of fates) {
        if (what === 'waiting' && transaction.from === signer) pool.set(transaction.nonce, transaction)
        else if (what === 'waiting') acts.push(transaction)
      }
      for (const [index, block] of added.entries())
        for (const { transaction, what } of fates) {
          if (what !== index) continue
          if (transaction.from !== signer || transaction.nonce === countOf(signer))
            execute(transaction, block)
          else pool.set(transaction.nonce, transaction)
        }
      return { removed, added }
    },
    /** Removes the newest blocks. @returns them */
    rollBack,
    /** Puts blocks back that were removed after the head. */
    restore(removed: readonly ModelBlock[]): void {
      for (const block of removed) {
        for (const step of block.steps) step.redo()
        for (const receipt of block.receipts) receipts.set(receipt.transaction.hash, receipt)
        blocks.push(block)
      }
    },
    /** Answers as of a block. @throws what it throws */
    asOf<T>(number: number, answer: () => T): T {
      const later = blocks.filter((block) => block.number > number).flatMap(({ steps }) => steps)
      for (const step of later.toReversed()) step.undo()
      try {
        return answer()
      } finally {
        for (const step of later) step.redo()
      }
    },
    /** Adds a transaction of anybody to the next block. */
    act(from: Address, to: Address, data: Hex, known?: Hex): Hex {
      const nonce = countOf(from) + acts.filter((act) => act.from === from).length
      const hash = known ?? keccak256(Buffer.from(`${from} ${nonce} ${to} ${data}`))
      acts.push({ hash, from, to, data, nonce, maxFeePerGas: BASE_FEE + TIP, maxPriorityFeePerGas: TIP })
      return hash
    },
    /**
     * Mines a block.
     * @param options.signedFirst whether the signer's come before the others
     * @param options.holdsSigned whether the signer's wait on
     * @param options.skipped how many numbers before it have no block
     */
    mine(timestamp: number, { signedFirst = true, holdsSigned = false, skipped = 0 } = {}): ModelBlock {
      const block = blockAfter(head(), timestamp, forks, skipped)
      const others = acts
      acts = []
      const signed = holdsSigned ? [] : takeSigned()
      const all = signedFirst ? [...signed, ...others] : [...others, ...signed]
      for (const transaction of all) execute(transaction, block)
      return append(block)
    },
  }
}

function blockAfter(parent: ModelBlock | undefined, timestamp: number, fork = 0, skipped = 0): ModelBlock {
  if (parent !== undefined && timestamp < parent.timestamp)
    throw new Error(`a block at ${timestamp} cannot come after ${parent.timestamp}`)
  const number = parent === undefined ? 0 : parent.number + 1 + skipped
  const parentHash: Hex = parent?.hash ?? `0x${'00'.repeat(32)}`
  const hash: Hex = `0xb${fork.toString(16).padStart(31, '0')}${number.toString(16).padStart(32, '0')}`
  return { number, hash, parentHash, timestamp, receipts: [], steps: [] }
}
