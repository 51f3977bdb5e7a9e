import { numberToHex, type PublicClient } from 'viem'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { bloomOf, EMPTY_TRIE_ROOT, ZERO_BLOOM } from '../../support/model-chain/bloom.js'
import { BASE_FEE, type ModelBlock } from '../../support/model-chain/model-chain.js'
import { createModelNode, toBlock } from '../../support/model-chain/model-node.js'
import { only } from '../../support/only.js'
import type { Random } from '../../support/random.js'
import { OTHER_CONTRACT, orderWith } from './any-orders.js'
import type { RandomChain } from './random-chain.js'

/** A pass with more calls than this is in an endless loop. */
const MAX_CALLS = 3000
/** Blocks of a range from which on the service checks a sample of them. */
const SAMPLED_RANGE = 98
const FULL_BLOOM: Hex = `0x${'ff'.repeat(256)}`
/** The blocks with one of these numbers have a bloom filter with every bit, as full blocks nearly have. */
const FULL_BLOCK_INTERVAL = 12
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

// biome-ignore lint/suspicious/noExplicitAny: the shapes that nodes answer in
type Shape = any
/** @param param the first one of the call @param answer that of the node itself */
type Script = (param: Shape, answer: () => Shape) => unknown

interface FaultyNodeOptions {
  readonly chainId: number
  /** Whether the node has `eth_getBlockReceipts`. */
  readonly hasReceipts: boolean
  /** Depth of blocks that a node may not have indexed yet, so that it may leave out their logs. */
  readonly freshBlocks: number
  readonly habits: NodeHabits
}

/** Makes a model node give wrong answers or fail at random, as often as a test allows. */
export function createFaultyNode(chain: RandomChain, random: Random, options: FaultyNodeOptions) {
  const { model } = chain
  const node = createModelNode(model, options.chainId)
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

  const isAmongLast = (number: number, count: number) => number > model.head().number - count
  const numberOf = (hash: Hex) => model.known(hash)?.number ?? fail()
  const isFull = (number: number) => number % FULL_BLOCK_INTERVAL === 0

  function headerOf(block: ModelBlock): Shape {
    const header = toBlock(block, BASE_FEE)
    const isEmpty = block.receipts.length === 0
    return {
      ...header,
      ...(isFull(block.number) && !isEmpty && { logsBloom: FULL_BLOOM }),
      ...(bloom !== undefined && !isEmpty && { logsBloom: bloom }),
      receiptsRoot,
    }
  }

  function wrongHead(): Shape {
    const { number } = model.head()
    const forkAt = chain.upTo(random.integer(Math.max(0, number - 12), number))
    return random.pick<() => Shape>([
      () => headerOf(chain.forkFrom(forkAt, random.integer(1, 8))),
      () => ({ ...headerOf(model.head()), hash: `0x${'e'.repeat(64)}`, parentHash: `0x${'d'.repeat(64)}` }),
      () => ({ ...headerOf(model.head()), number: numberToHex(10 ** 9) }),
      () => headerOf(forkAt),
    ])()
  }

  const header: Script = (name, answer) => {
    const found = answer()
    const right = found && headerOf(model.known(found.hash) as ModelBlock)
    if (name === 'latest') return isWrong() ? wrongHead() : right
    if (right === null && failsWithoutBlock)
      throw Object.assign(new Error('requested epoch was a null round'), { code: -32000 })
    if (!isWrong()) return right
    return random.pick<() => Shape>([
      () => null,
      fail,
      () => headerOf(model.head()),
      () => right && { ...right, logsBloom: random.pick([null, ZERO_BLOOM]) },
    ])()
  }

  /** Logs that show that the answer is wrong, whatever the block contains. */
  function visiblyWrong([first, ...rest]: Shape[]): Shape {
    if (first === undefined) return random.pick<() => null>([fail, () => null])()
    const changed = random.pick<object>([
      { removed: true },
      { address: OTHER_CONTRACT },
      { blockHash: `0x${'f'.repeat(64)}` },
    ])
    return random.pick<() => Shape>([
      fail,
      () => [first, ...rest, first, ...rest, { ...first, data: `${first.data}00` }],
      () => [{ ...first, ...changed }, ...rest],
    ])()
  }

  function logsOfBlock(number: number, indexed: Shape[]): Shape {
    const logs = isAmongLast(number, lateBlocks) ? [] : indexed
    if (!isWrong()) return logs
    if (!isAmongLast(number, options.freshBlocks)) return visiblyWrong(logs)
    return random.pick<() => Shape>([
      () => [],
      () => logs.toSpliced(random.integer(0, 1), 1),
      () => [...logs, ...logs],
      () => visiblyWrong(logs),
    ])()
  }

  function logsOfRange(from: number, to: number, logs: Shape[]): Shape {
    if (from === to || !isWrong()) return logs
    // Without bloom filters nothing shows that logs of a range are missing.
    if (bloom !== undefined) return visiblyWrong(logs)
    // In a long range, the service samples blocks, and finds only what lacks a large part.
    const cut = to - from < SAMPLED_RANGE ? random.integer(0, logs.length) : Math.floor(logs.length / 2)
    const blocks = new Set(logs.map(({ blockHash }) => blockHash))
    const leftOut = new Set([...blocks].filter(() => random.integer(0, 1) === 0))
    return random.pick<() => Shape>([
      () => logs.slice(0, cut),
      () => logs.slice(cut),
      () => logs.filter(({ blockHash }) => !leftOut.has(blockHash)),
      () => visiblyWrong(logs),
    ])()
  }

  function receiptsOf(hash: Hex, found: Shape[] | null): Shape {
    if (!options.hasReceipts) return null
    const number = numberOf(hash)
    const last = isFull(number) && { logsBloom: FULL_BLOOM }
    const indexed = found?.map((receipt, index) => ({ ...receipt, ...(index === found.length - 1 && last) }))
    const receipts = isAmongLast(number, lateBlocks)
      ? indexed?.map((receipt) => ({ ...receipt, logs: [], logsBloom: ZERO_BLOOM }))
      : indexed
    if (receipts === undefined || !isWrong()) return receipts
    return random.pick<() => Shape>([
      () => null,
      fail,
      () => [],
      () => receipts.slice(1),
      () => receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.slice(1) })),
    ])()
  }

  const placed = (logs: Shape[]): Shape[] =>
    hasOneIndex ? logs.map((log) => ({ ...log, logIndex: '0x0' })) : logs

  const scripts: Record<string, Script> = {
    eth_getBlockByNumber: header,
    eth_getBlockByHash: header,
    eth_getBlockReceipts: (hash, answer) =>
      receiptsOf(hash, answer())?.map((receipt: Shape) => ({ ...receipt, logs: placed(receipt.logs) })),
    eth_getLogs({ blockHash, fromBlock, toBlock: last }, answer) {
      const logs = blockHash
        ? logsOfBlock(numberOf(blockHash), answer())
        : logsOfRange(Number(fromBlock), Number(last), answer())
      return logs && placed(logs)
    },
    eth_call: (_call, answer) =>
      isWrong() ? random.pick([fail, () => orderWith(0), () => orderWith(9)])() : answer(),
    eth_chainId: (_none, answer) => (isWrong() ? numberToHex(options.chainId + 1) : answer()),
  }
  node.intercept(({ method, params = [] }, answer) => scripts[method]?.(params[0], answer))

  return {
    client: only<PublicClient>({
      request: node.request,
      getChainId: async () => Number(await node.request({ method: 'eth_chainId' })),
    }),
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
