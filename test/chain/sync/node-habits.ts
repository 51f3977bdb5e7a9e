import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { bloomOf, EMPTY_TRIE_ROOT, ZERO_BLOOM } from '../../support/model-chain/bloom.js'
import type { Random } from '../../support/random.js'
import type { RawHeader, RawLog, RawReceipt } from './model-chain.js'

/** What a node does at all times, and what is not wrong by itself (docs/decisions.md, D22). */
export interface NodeHabits {
  /** What the headers of all blocks with transactions have in place of their bloom filter. */
  readonly bloom?: Hex | null
  /** The receipts root of all headers. */
  readonly receiptsRoot?: Hex
  /** A block's logs and receipts come only this many blocks later. */
  readonly lateBlocks: number
  /** Which indices the logs of a block have. */
  readonly indices: 'of the block' | 'of the transaction' | 'all one'
  /** Whether values come in other spellings, and empty ones as null. */
  readonly isOdd: boolean
}

export const NO_HABITS: NodeHabits = { lateBlocks: 0, indices: 'of the block', isOdd: false }

/** Of a contract that has no log in any block. */
const CONSTANT_BLOOM = bloomOf([{ address: `0x${'77'.repeat(20)}`, topics: [] }])

export function drawHabits(random: Random): NodeHabits {
  return {
    ...random.pick<Pick<NodeHabits, 'bloom' | 'receiptsRoot'>>([
      {},
      { bloom: ZERO_BLOOM, receiptsRoot: EMPTY_TRIE_ROOT },
      { bloom: CONSTANT_BLOOM },
      { bloom: null, receiptsRoot: EMPTY_TRIE_ROOT },
    ]),
    lateBlocks: random.pick([0, 0, 1, 3]),
    indices: random.pick(['of the block', 'of the block', 'of the transaction', 'all one']),
    isOdd: random.integer(0, 1) === 0,
  }
}

/** Gives answers as a node with these habits does. */
export function withHabits(random: Random, { bloom, receiptsRoot, indices, isOdd }: NodeHabits) {
  const spell = (value: Hex): unknown =>
    random.pick<() => unknown>([
      () => value,
      () => Number(value),
      () => String(Number(value)),
      () => `0x${value.slice(2).padStart(64, '0')}`,
    ])()
  const spelled = (object: object, members: readonly string[]) =>
    isOdd
      ? { ...object, ...Object.fromEntries(members.map((name) => [name, spell(object[name as never])])) }
      : object

  function logOf(log: RawLog): object {
    const logIndex = indices === 'of the block' ? log.logIndex : '0x0'
    const placed = { ...log, logIndex, transactionIndex: log.transactionIndex }
    const odd = spelled(placed, ['blockNumber', 'logIndex', 'transactionIndex'])
    if (!isOdd || log.data !== '0x') return odd
    return { ...odd, data: random.pick<unknown>(['0x', '', '0x0', null, undefined]) }
  }

  return {
    header(header: RawHeader): object {
      const placeholder = bloom === undefined || header.transactions.length === 0 ? {} : { logsBloom: bloom }
      return spelled({ ...header, ...placeholder, receiptsRoot }, ['number', 'timestamp'])
    },
    logs: (logs: readonly RawLog[]): unknown => (isOdd && logs.length === 0 ? null : logs.map(logOf)),
    receipts: (receipts: readonly RawReceipt[]): unknown =>
      isOdd && random.integer(0, 3) === 0
        ? random.pick<unknown>([{}, [null], receipts.map((receipt) => ({ ...receipt, logs: null }))])
        : receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map(logOf) })),
  }
}
