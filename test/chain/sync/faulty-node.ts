import type { PublicClient } from 'viem'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { bloomOf, EMPTY_TRIE_ROOT, ZERO_BLOOM } from '../../support/model-chain/bloom.js'
import { only } from '../../support/only.js'
import type { Random } from '../../support/random.js'
import {
  type RandomChain,
  type RawBlock,
  type RawHeader,
  type RawLog,
  type RawReceipt,
  toHex,
} from './random-chain.js'

interface LogFilter {
  readonly blockHash?: Hex
  readonly fromBlock?: Hex
  readonly toBlock?: Hex
}

/** A pass with more calls than this is in an endless loop. */
const MAX_CALLS = 3000
/** Blocks of a range from which on the service checks a sample of them. */
const SAMPLED_RANGE = 98
export const ENDLESS = 'the node is called endlessly'

/** What a node does at all times, and what is not wrong by itself (docs/decisions.md, D22). `odd-answers.test.ts` has its spellings. */
export interface NodeHabits {
  /** What the headers of all blocks with transactions have in place of their bloom filter. */
  readonly bloom?: Hex | null
  /** The receipts root of all headers. */
  readonly receiptsRoot?: Hex
  /** A block's logs and receipts come only this many blocks later. */
  readonly lateBlocks: number
  /** Whether all logs have the index 0. */
  readonly hasOneIndex: boolean
  /** Whether a block that does not exist is an error. */
  readonly failsWithoutBlock: boolean
}

export const NO_HABITS: NodeHabits = { lateBlocks: 0, hasOneIndex: false, failsWithoutBlock: false }

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
    hasOneIndex: random.integer(0, 1) === 0,
    failsWithoutBlock: random.integer(0, 1) === 0,
  }
}

interface FaultyNodeOptions {
  readonly chainId: number
  /** Whether the node has `eth_getBlockReceipts`. */
  readonly hasReceipts: boolean
  /** Depth of blocks that a node may not have indexed yet, so that it may leave out their logs. */
  readonly freshBlocks: number
  readonly habits: NodeHabits
}

/** A node with JSON-RPC that gives wrong answers or fails at random, as often as a test allows. */
export function createFaultyNode(chain: RandomChain, random: Random, options: FaultyNodeOptions) {
  let wrongAnswersLeft = 0
  let calls = 0
  let { lateBlocks } = options.habits
  const { bloom, receiptsRoot, hasOneIndex, failsWithoutBlock } = options.habits

  /** Whether this answer is wrong. */
  function isWrong(): boolean {
    if (++calls > MAX_CALLS) throw new Error(ENDLESS)
    if (wrongAnswersLeft === 0 || random.integer(0, 4) > 0) return false
    wrongAnswersLeft--
    return true
  }

  function fail(): never {
    throw new Error('no answer')
  }

  function wrongHead(): RawHeader {
    const { number, header } = chain.tip()
    const forkAt = chain.upTo(random.integer(Math.max(0, number - 12), number))
    const wrong = [
      () => chain.forkFrom(forkAt, random.integer(1, 8)).header,
      () => ({ ...header, hash: `0x${'e'.repeat(64)}`, parentHash: `0x${'d'.repeat(64)}` }) as const,
      () => ({ ...header, number: toHex(10 ** 9) }),
      () => forkAt.header,
    ] as const
    return random.pick(wrong)()
  }

  function headerBy(name: Hex | string): RawHeader | null {
    if (name === 'latest') return isWrong() ? wrongHead() : chain.tip().header
    const block = name.length === 66 ? chain.get(name as Hex) : chain.at(Number(name))
    const header = block?.header ?? null
    if (header === null && failsWithoutBlock)
      throw Object.assign(new Error('requested epoch was a null round'), { code: -32000 })
    if (!isWrong()) return header
    return random.pick<() => RawHeader | null>([
      () => null,
      fail,
      () => chain.tip().header,
      () => header && { ...header, logsBloom: random.pick<Hex | null>([null, ZERO_BLOOM]) },
    ])()
  }

  /** Whether the node has not indexed a block yet. */
  function isLate({ number }: RawBlock): boolean {
    return number > chain.tip().number - lateBlocks
  }

  function isFresh({ number }: RawBlock): boolean {
    return number > chain.tip().number - options.freshBlocks
  }

  /** Logs that show that the answer is wrong, whatever the block contains. */
  function visiblyWrong(logs: readonly RawLog[]): readonly RawLog[] | null {
    const [first, ...rest] = logs
    if (first === undefined) return random.pick<() => null>([fail, () => null])()
    const changed = random.pick<Partial<RawLog>>([
      { removed: true },
      { address: `0x${'0c'.repeat(20)}` },
      { blockHash: `0x${'f'.repeat(64)}` },
    ])
    return random.pick<() => readonly RawLog[]>([
      fail,
      () => [...logs, ...logs, { ...first, data: `${first.data}00` }],
      () => [{ ...first, ...changed }, ...rest],
    ])()
  }

  function without(logs: readonly RawLog[], left: number): RawLog[] {
    return logs.filter((_, index) => index !== left)
  }

  function logsOfBlock(hash: Hex): readonly RawLog[] | null {
    const block = chain.get(hash)
    if (block === undefined) return fail()
    const logs = isLate(block) ? [] : block.logs
    if (!isWrong()) return logs
    if (!isFresh(block)) return visiblyWrong(logs)
    return random.pick<() => readonly RawLog[] | null>([
      () => [],
      () => without(logs, random.integer(0, 1)),
      () => [...logs, ...logs],
      () => visiblyWrong(logs),
    ])()
  }

  function logsOfRange(from: number, to: number): readonly RawLog[] | null {
    const blocks = chain.blocks(from, to)
    const logs = blocks.flatMap((block) => block.logs)
    if (from === to || !isWrong()) return logs
    // Without bloom filters nothing shows that logs of a range are missing.
    if (bloom !== undefined) return visiblyWrong(logs)
    // In a long range, the service samples blocks, and finds only what lacks a large part.
    const cut = to - from < SAMPLED_RANGE ? random.integer(0, logs.length) : Math.floor(logs.length / 2)
    const leftOut = new Set(blocks.filter(() => random.integer(0, 1) === 0).map(({ hash }) => hash))
    return random.pick<() => readonly RawLog[] | null>([
      () => logs.slice(0, cut),
      () => logs.slice(cut),
      () => logs.filter(({ blockHash }) => !leftOut.has(blockHash)),
      () => visiblyWrong(logs),
    ])()
  }

  function receiptsOf(hash: Hex): RawReceipt[] | null {
    if (!options.hasReceipts) return null
    const block = chain.get(hash)
    const all = block ? [...block.receipts] : null
    const receipts =
      block && all && isLate(block) ? all.map((each) => ({ ...each, logs: [], logsBloom: ZERO_BLOOM })) : all
    if (receipts === null || !isWrong()) return receipts
    return random.pick<() => RawReceipt[] | null>([
      () => null,
      fail,
      () => [],
      () => receipts.slice(1),
      () => receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.slice(1) })),
    ])()
  }

  /** The answer to `orders(bytes32)`: settled, because the model has no refunds. */
  function orderAnswer(): unknown {
    const order = (state: number): Hex =>
      `0x${[0, 0, 0, 1, 0, 1, 1, 1, state].map((word) => word.toString(16).padStart(64, '0')).join('')}`
    return isWrong() ? random.pick<() => unknown>([fail, () => order(0), () => order(9)])() : order(2)
  }

  function toAnswer(header: RawHeader): object {
    const placeholder = bloom === undefined || header.transactions.length === 0 ? {} : { logsBloom: bloom }
    return { ...header, ...placeholder, receiptsRoot }
  }

  const placed = (logs: readonly RawLog[]): readonly RawLog[] =>
    hasOneIndex ? logs.map((log) => ({ ...log, logIndex: '0x0' })) : logs

  function answer(method: string, [first]: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_getBlockByNumber':
      case 'eth_getBlockByHash': {
        const header = headerBy(first as Hex)
        return header && toAnswer(header)
      }
      case 'eth_getBlockReceipts': {
        const receipts = receiptsOf(first as Hex)
        return receipts?.map((receipt) => ({ ...receipt, logs: placed(receipt.logs) })) ?? null
      }
      case 'eth_getLogs': {
        const { blockHash, fromBlock, toBlock } = first as LogFilter
        const logs =
          blockHash === undefined ? logsOfRange(Number(fromBlock), Number(toBlock)) : logsOfBlock(blockHash)
        return logs && placed(logs)
      }
      case 'eth_call':
        return orderAnswer()
    }
    throw new Error(`the node has no method ${method}`)
  }

  const client = {
    getChainId: async () => (isWrong() ? options.chainId + 1 : options.chainId),
    request: async ({ method, params }: { method: string; params: readonly unknown[] }) =>
      answer(method, params),
  }

  return {
    client: only<PublicClient>(client),
    /** Has all blocks indexed at once from now on. */
    catchUp() {
      lateBlocks = 0
    },
    /** Allows this number of wrong answers from now on, and counts calls from 0. */
    allow(lieCount: number) {
      wrongAnswersLeft = lieCount
      calls = 0
    },
  }
}
