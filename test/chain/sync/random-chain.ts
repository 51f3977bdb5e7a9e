import { toEventSelector } from 'viem'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { bloomOf, toBloom } from '../../support/model-chain/bloom.js'
import type { Random } from '../../support/random.js'

/** A header in JSON-RPC form. */
export interface RawHeader {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly logsBloom: Hex | null
  readonly transactions: readonly Hex[]
}

/** A log in JSON-RPC form. */
export interface RawLog {
  readonly address: Address
  readonly removed?: boolean
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly logIndex: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** A receipt in the form of `eth_getBlockReceipts`. */
export interface RawReceipt {
  readonly blockHash: Hex
  readonly logsBloom: Hex
  readonly logs: readonly RawLog[]
}

export interface RawBlock {
  readonly number: number
  readonly hash: Hex
  readonly header: RawHeader
  readonly receipts: readonly RawReceipt[]
  /** The logs of the contract. */
  readonly logs: readonly RawLog[]
}

export const SETTLEMENT: Address = `0x${'5e'.repeat(20)}`
const OTHER_CONTRACT: Address = `0x${'0c'.repeat(20)}`
const ADDRESS_WORD: Hex = `0x${'11'.repeat(20).padStart(64, '0')}`
const FULL_BLOOM: Hex = `0x${'ff'.repeat(256)}`
/** One block of this number has a bloom with every bit, as full blocks nearly have. */
const FULL_BLOCK_INTERVAL = 12
/** One block of this number without events has no transactions. */
const EMPTY_BLOCK_INTERVAL = 3

const DEPOSITED = toEventSelector('Deposited(bytes32,address,address,address,uint256,address,uint256,uint32)')
const SETTLED = toEventSelector('Settled(bytes32,address,address)')

interface ChainOptions {
  /** How many numbers without a block may come before one. */
  readonly nullRounds?: number
}

/** The chain of a node, with consistent headers, logs and receipts. */
export function createRandomChain(random: Random, { nullRounds = 0 }: ChainOptions = {}) {
  let serial = 0
  const byHash = new Map<Hex, RawBlock>()
  let blocks: RawBlock[] = []

  function makeLogs(number: number, hash: Hex): RawLog[] {
    return Array.from({ length: random.integer(0, 2) }, (_, index) => {
      const isDeposit = random.integer(0, 1) === 0
      return {
        ...logAt(number, hash, index, SETTLEMENT),
        transactionHash: word(serial * 10 + index),
        topics: [isDeposit ? DEPOSITED : SETTLED, word(serial * 10 + index), ADDRESS_WORD, ADDRESS_WORD],
        data: isDeposit ? (`0x${'0'.repeat(5 * 64)}` as const) : '0x',
      }
    })
  }

  function makeReceipts(number: number, hash: Hex, logs: readonly RawLog[]): RawReceipt[] {
    const receiptOf = (log: RawLog) => ({ blockHash: hash, logsBloom: bloomOf([log]), logs: [log] })
    const receipts = logs.map(receiptOf)
    if (random.integer(1, FULL_BLOCK_INTERVAL) === 1)
      return [...receipts, { blockHash: hash, logsBloom: FULL_BLOOM, logs: [] }]
    if (logs.length === 0 && random.integer(1, EMPTY_BLOCK_INTERVAL) === 1) return []
    return [...receipts, receiptOf(logAt(number, hash, logs.length, OTHER_CONTRACT))]
  }

  function makeBlock(number: number, parentHash: Hex): RawBlock {
    const hash = word(++serial)
    const logs = makeLogs(number, hash)
    const receipts = makeReceipts(number, hash, logs)
    const logsBloom = toBloom(receipts.reduce((bits, receipt) => bits | BigInt(receipt.logsBloom), 0n))
    const transactions = receipts.map((_, index) => word(serial * 10 + index))
    const header = {
      number: toHex(number),
      hash,
      parentHash,
      timestamp: toHex(number),
      logsBloom,
      transactions,
    }
    const block = { number, hash, header, receipts, logs }
    byHash.set(hash, block)
    return block
  }

  function grow(count: number): void {
    for (let left = count; left > 0; left--) {
      const last = blocks.at(-1)
      const skipped = last !== undefined && random.integer(0, 3) === 0 ? random.integer(0, nullRounds) : 0
      blocks.push(makeBlock((last?.number ?? -1) + 1 + skipped, last?.hash ?? word(0)))
    }
  }
  grow(1)

  const at = (number: number) => blocks.find((block) => block.number === number)

  return {
    grow,
    /** Replaces this number of last blocks, at most all but the first, by at least as many others. */
    reorganise(depth: number): void {
      const kept = Math.max(1, blocks.length - depth)
      const dropped = blocks.length - kept
      blocks = blocks.slice(0, kept)
      grow(dropped + random.integer(0, 3))
    },
    tip: () => blocks.at(-1) as RawBlock,
    at,
    /** The last block up to a number. */
    upTo: (number: number) => blocks.findLast((block) => block.number <= number) as RawBlock,
    get: (hash: Hex) => byHash.get(hash),
    /** The last block of a fork that begins after a block and never becomes the chain. */
    forkFrom(block: RawBlock, length: number): RawBlock {
      let last = block
      for (let left = length; left > 0; left--) last = makeBlock(last.number + 1, last.hash)
      return last
    },
    blocks: (from: number, to: number): readonly RawBlock[] =>
      blocks.filter(({ number }) => number >= from && number <= to),
  }
}

export type RandomChain = ReturnType<typeof createRandomChain>

/** A log of a contract, in a transaction of its own. */
function logAt(number: number, hash: Hex, index: number, address: Address): RawLog {
  return {
    address,
    blockNumber: toHex(number),
    blockHash: hash,
    transactionHash: word(number),
    transactionIndex: toHex(index),
    logIndex: toHex(index),
    topics: [word(7)],
    data: '0x',
  }
}

export function toHex(number: number): Hex {
  return `0x${number.toString(16)}`
}

function word(number: number): Hex {
  return `0x${number.toString(16).padStart(64, '0')}`
}
