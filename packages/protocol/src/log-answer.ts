import type { Address, Hex } from '../../../src/domain/values/hex.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { bytesIn, numberIn, wordIn } from './node-values.js'
import type { NodeLog } from './settlement.js'

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
