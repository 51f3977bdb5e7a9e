import type { BlockHeader } from '../orders/block.js'
import { type NodeLog, UNKNOWN_TIME } from '../settlement/settlement.js'
import type { Address, Hex } from '../values/hex.js'

/**
 * A node's answers contradict each other, are incomplete or have another shape: the node lags, its chain has just changed, or it does
 * not do what the JSON-RPC specification says.
 */
export class InconsistentAnswerError extends Error {
  override readonly name = 'InconsistentAnswerError'

  /** @param member the member of the answer that cannot be read, such as `logs[2].data` */
  constructor(
    message: string,
    readonly member?: string,
  ) {
    super(message)
  }
}

/** A header with its block's time, Unix time in milliseconds; 0 when the node gives none. */
export interface TimedHeader extends BlockHeader {
  readonly timestampMs: number
  /** The bloom filter over the block's logs, 256 bytes; undefined when it has no bit, or the node gives none. */
  readonly logsBloom?: Hex
  /** The length of the block's list of transactions; undefined when the node gives none. */
  readonly transactions?: number
}

/**
 * Reads the answer to `eth_getBlockByNumber` or `eth_getBlockByHash`.
 * @param name of the block, for errors
 * @throws InconsistentAnswerError when there is no block, or it has no place in the chain yet
 */
export function headerIn(answer: unknown, name: string): TimedHeader {
  const block: Record<string, unknown> = typeof answer === 'object' && answer !== null ? { ...answer } : {}
  const logsBloom = bloomIn(block.logsBloom)

  function required<T>(member: string, read: (value: unknown) => T | undefined): T {
    const value = read(block[member])
    if (value !== undefined) return value
    const what = answer === null ? `there is no block ${name}` : `block ${name} has no valid ${member}`
    throw new InconsistentAnswerError(what, member)
  }

  return {
    number: required('number', numberIn),
    hash: required('hash', wordIn),
    parentHash: required('parentHash', wordIn),
    timestampMs: (numberIn(block.timestamp) ?? UNKNOWN_TIME) * 1000,
    ...(logsBloom && { logsBloom }),
    ...(Array.isArray(block.transactions) && { transactions: block.transactions.length }),
  }
}

/** An event has at most four topics. */
const MAX_TOPICS = 4

/**
 * Reads a node's answer to `eth_getLogs` for some contracts. `null` is an answer without logs.
 * @param addresses of the contracts, lower case
 * @returns the logs in one spelling and in the order of the chain, without duplicates
 * @throws InconsistentAnswerError when a log is malformed, was removed by a reorganisation or belongs to another contract
 */
export function logsIn(answer: unknown, ...addresses: readonly Address[]): NodeLog[] {
  const list = answer ?? []
  if (!Array.isArray(list)) throw new InconsistentAnswerError('the answer is no list of logs', 'logs')
  return inOrder(
    list.map((item, index) => {
      const log = logIn(item, `logs[${index}]`)
      if (addresses.includes(log.address)) return log
      throw new InconsistentAnswerError('a log belongs to another contract', `logs[${index}].address`)
    }),
  )
}

/**
 * Reads one log, of any contract.
 * @param name of the log, for errors
 * @throws InconsistentAnswerError
 */
export function logIn(item: unknown, name: string): NodeLog {
  const log: Record<string, unknown> = typeof item === 'object' && item !== null ? { ...item } : {}

  function required<T>(member: keyof NodeLog, read: (value: unknown) => T | undefined): T {
    const value = read(log[member])
    if (value !== undefined) return value
    throw new InconsistentAnswerError(`a log has no valid ${member}`, `${name}.${member}`)
  }

  if (log.removed === true)
    throw new InconsistentAnswerError('a log was removed by a reorganisation', `${name}.removed`)
  return {
    address: required('address', bytesIn),
    blockNumber: required('blockNumber', numberIn),
    blockHash: required('blockHash', wordIn),
    blockTimestamp: numberIn(log.blockTimestamp),
    transactionHash: required('transactionHash', wordIn),
    transactionIndex: numberIn(log.transactionIndex),
    logIndex: required('logIndex', numberIn),
    topics: required('topics', topicsIn),
    data: required('data', bytesIn),
  }
}

function topicsIn(value: unknown): Hex[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_TOPICS) return undefined
  const topics = value.flatMap((topic) => wordIn(topic) ?? [])
  return topics.length === value.length ? topics : undefined
}

/**
 * Brings logs into the order of the chain. Some nodes count the logs of each transaction, and others give all logs of a block one index.
 * The logs of such a block are ordered by transaction and index, and counted again.
 */
export function inOrder(logs: readonly NodeLog[]): NodeLog[] {
  const unique = [...new Map(logs.map((log) => [identityOf(log), log])).values()]
  const sorted = unique.sort(
    (a, b) =>
      a.blockNumber - b.blockNumber ||
      (a.transactionIndex ?? 0) - (b.transactionIndex ?? 0) ||
      a.logIndex - b.logIndex,
  )
  const miscounted = new Set<string>()
  for (const [index, { blockHash, logIndex }] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before?.blockHash === blockHash && before.logIndex >= logIndex) miscounted.add(blockHash)
  }
  let place = 0
  return sorted.map((log, index) => {
    place = sorted[index - 1]?.blockHash === log.blockHash ? place + 1 : 0
    return miscounted.has(log.blockHash) ? { ...log, logIndex: place } : log
  })
}

/** Whether `all` includes all of `some`, whatever their indices. */
export function includesLogs(all: readonly NodeLog[], some: readonly NodeLog[]): boolean {
  const known = new Set(all.map(identityOf))
  return some.every((log) => known.has(identityOf(log)))
}

/** What a log is, whatever its index. No transaction emits an event of the contract twice, or it has the same meaning. */
function identityOf({ blockHash, transactionHash, topics, data }: NodeLog): string {
  return [blockHash, transactionHash, ...topics, data].join(' ')
}

// Values in a node's answer, in any spelling (docs/decisions.md, D22). Each function returns undefined for what is no such value.

const NUMBER = /^(0x[0-9a-f]+|[0-9]+)$/i
const BYTES = /^0x([0-9a-f]{2})*$/i
const WORD = /^0x[0-9a-f]{64}$/i
const BLOOM = /^0x[0-9a-f]{512}$/i
const NO_BYTES: readonly unknown[] = [undefined, null, '', '0x0']

/** A safe integer from 0: hex with any number of zeros before it, a decimal text, or a number of JSON. */
export function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}

/** Bytes in lower case. No bytes may be an empty text, `0x0` or absent. */
function bytesIn(value: unknown): Hex | undefined {
  return NO_BYTES.includes(value) ? '0x' : textIn(value, BYTES)
}

/** 32 bytes in lower case. */
export function wordIn(value: unknown): Hex | undefined {
  return textIn(value, WORD)
}

/** A bloom filter in lower case. One without a bit says nothing: many nodes fill it in for all blocks, or until they know it. */
export function bloomIn(value: unknown): Hex | undefined {
  const bloom = textIn(value, BLOOM)
  return bloom !== undefined && /[1-9a-f]/.test(bloom.slice(2)) ? bloom : undefined
}

function textIn(value: unknown, pattern: RegExp): Hex | undefined {
  return typeof value === 'string' && pattern.test(value) ? (value.toLowerCase() as Hex) : undefined
}
