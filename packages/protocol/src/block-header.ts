import type { BlockHeader } from '../../../src/domain/orders/block.js'
import type { Hex } from '../../../src/domain/values/hex.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { bloomIn, numberIn, wordIn } from './node-values.js'
import { UNKNOWN_TIME } from './settlement.js'

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
