import { keccak256 } from 'viem'
import type { NodeLog } from '../settlement/settlement.js'
import type { Address, Hex } from '../values/hex.js'
import { bloomIn, inOrder, logIn, type TimedHeader, wordIn } from './parse-blocks.js'

/** A contract whose logs are read. */
export interface WatchedContract {
  /** Lower case. */
  readonly address: Address
  /** The first topics of the logs that are read. */
  readonly topics: readonly Hex[]
  readonly topicsIn: TopicsInBloom
}

/** The receipts of a block that prove which logs it has. */
interface ProvenReceipts {
  /** The contract's logs. */
  readonly logs: readonly NodeLog[]
  /** The logs of all contracts. */
  readonly all: readonly NodeLog[]
}

const NONE: ReadonlySet<Hex> = new Set()

export function watchContract(address: Address, topics: readonly Hex[]): WatchedContract {
  return { address, topics, topicsIn: createTopicsInBloom(address, topics) }
}

/**
 * What a header says of the contract's logs in its block.
 * @param trustsBlooms whether the bloom filter of a block with logs has agreed with them at this endpoint
 * @returns the first topics that logs may have, none when there is no log; undefined when the header says nothing
 */
export function possibleTopics(
  { topicsIn }: WatchedContract,
  { logsBloom, transactions }: TimedHeader,
  trustsBlooms: boolean,
): ReadonlySet<Hex> | undefined {
  const topics = logsBloom && topicsIn(logsBloom)
  if (topics && (topics.size > 0 || trustsBlooms)) return topics
  return transactions === 0 ? NONE : undefined
}

/** Whether logs have exactly some topics, of those that are read. */
export function hasTopics(
  { topics }: WatchedContract,
  logs: readonly NodeLog[],
  possible: ReadonlySet<Hex>,
): boolean {
  const came = new Set(logs.map((log) => log.topics[0]))
  return topics.every((topic) => came.has(topic) === possible.has(topic))
}

/** Whether the bloom filter of a block with logs has the addresses and first topics of all of them: it is asked for no others. */
export function agreesWithBloom({ logsBloom }: TimedHeader, logs: readonly NodeLog[]): boolean {
  const values = new Set(logs.flatMap(({ address, topics }) => [address, ...topics.slice(0, 1)]))
  return logsBloom !== undefined && hasAll(logsBloom, [...values])
}

/**
 * Judges the answer to `eth_getBlockReceipts`.
 * @returns undefined when it proves nothing: it has another shape, is of another block or lacks a transaction, the indices of the logs
 *   have gaps, or the logs do not explain the bloom filters of the receipts and of the header
 */
export function provenReceipts(
  contract: WatchedContract,
  header: TimedHeader,
  answer: unknown,
): ProvenReceipts | undefined {
  if (!Array.isArray(answer) || answer.length < (header.transactions ?? 0)) return undefined
  try {
    const receipts = answer.map((receipt) => receiptIn(contract, header, receipt))
    const all = receipts.flatMap(({ logs }) => logs)
    // Nodes count the logs of a block from 0.
    const isCounted = all.every(({ logIndex }, index) => logIndex === index)
    const blooms = receipts.flatMap(({ bloom }) => bloom ?? [])
    if (!isCounted || !coversBloom(blooms, header.logsBloom ?? '0x0')) return undefined
    return { logs: inOrder(all.filter(({ address }) => address === contract.address)), all }
  } catch {
    return undefined
  }
}

/** @throws Error when a receipt is none of the block, or lacks logs that its bloom filter has */
function receiptIn(
  { address, topicsIn }: WatchedContract,
  header: TimedHeader,
  receipt: {
    readonly blockHash: unknown
    readonly logs: readonly unknown[]
    readonly logsBloom: unknown
  },
) {
  const logs = receipt.logs.map((log) => logIn(log, 'log'))
  const bloom = bloomIn(receipt.logsBloom)
  const came = new Set(logs.map((log) => (log.address === address ? log.topics[0] : undefined)))
  const isWhole =
    wordIn(receipt.blockHash) === header.hash &&
    logs.every(isIn(header)) &&
    (bloom === undefined || [...topicsIn(bloom)].every((topic) => came.has(topic)))
  if (!isWhole) throw new Error('the receipt proves nothing')
  return { logs, bloom }
}

/** Whether a log says that it is of a block. */
export function isIn({ number, hash }: TimedHeader): (log: NodeLog) => boolean {
  return ({ blockNumber, blockHash }) => blockHash === hash && blockNumber === number
}

/** Returns the topics that logs of one contract may have, by the bloom filter of a block or of a receipt. */
type TopicsInBloom = (bloom: Hex) => ReadonlySet<Hex>

/**
 * Builds the test of one contract. A topic that is not in the result is in no log of the contract. A topic in the result
 * may be missing nevertheless: a bloom filter has false positives, and many of them in a full block.
 * @param topics first topics of logs, 32 bytes each
 */
function createTopicsInBloom(address: Address, topics: readonly Hex[]): TopicsInBloom {
  const bitsOfAddress = bitsOf(address)
  const bitsOfTopics = topics.map((topic) => [topic, bitsOf(topic)] as const)
  return (bloom) => {
    if (!hasBits(bloom, bitsOfAddress)) return NONE
    const found = bitsOfTopics.filter(([, bits]) => hasBits(bloom, bits))
    return new Set(found.map(([topic]) => topic))
  }
}

/** Whether a bloom filter has the bits of some addresses and topics. */
function hasAll(bloom: Hex, values: readonly Hex[]): boolean {
  return values.every((value) => hasBits(bloom, bitsOf(value)))
}

/** Whether some blooms together have every bit of another bloom. */
function coversBloom(blooms: readonly Hex[], whole: Hex): boolean {
  const union = blooms.reduce((bits, bloom) => bits | BigInt(bloom), 0n)
  return (BigInt(whole) & ~union) === 0n
}

/**
 * The bits that a value sets in a bloom filter of 2048 bits, counted from the lowest. They are the low eleven bits of each
 * of the first three pairs of bytes of its Keccak-256 (Yellow Paper, section 4.3.1, "M3:2048").
 */
function bitsOf(value: Hex): number[] {
  const hash = keccak256(value)
  return [2, 6, 10].map((start) => Number.parseInt(hash.slice(start, start + 4), 16) & 0x7ff)
}

function hasBits(bloom: Hex, bits: readonly number[]): boolean {
  return bits.every((bit) => {
    const digit = Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16)
    return (digit & (1 << (bit & 3))) !== 0
  })
}
