import type { PublicClient } from 'viem'
import type { RawLog } from '../../packages/protocol/src/settlement.js'
import type { RawHeader } from '../../src/chain/headers.js'
import type { Hex } from '../../src/domain/hex.js'
import type { Random } from '../support/random.js'
import { type ModelBlock, type ModelChain, toHex } from './model-chain.js'

interface LogFilter {
  readonly blockHash?: Hex
  readonly fromBlock?: Hex
  readonly toBlock?: Hex
}

/** A pass with more calls than this is in an endless loop. */
const MAX_CALLS = 3000
export const ENDLESS = 'the node is called endlessly'

interface FaultyNodeOptions {
  readonly chainId: number
  /** Whether the node has `eth_getBlockReceipts`. */
  readonly hasReceipts: boolean
  /** Depth of blocks that a node may not have indexed yet, so that it may leave out their logs. */
  readonly freshBlocks: number
}

/** A node with JSON-RPC that gives wrong answers or fails at random, as often as a test allows. */
export function createFaultyNode(chain: ModelChain, random: Random, options: FaultyNodeOptions) {
  let wrongAnswersLeft = 0
  let calls = 0

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
    const forkAt = random.integer(Math.max(0, number - 12), number)
    const wrong = [
      () => chain.forkFrom(forkAt, random.integer(1, 8)).header,
      () => ({ ...header, hash: `0x${'e'.repeat(64)}`, parentHash: `0x${'d'.repeat(64)}` }) as const,
      () => ({ ...header, number: toHex(10 ** 9) }),
      () => (chain.at(forkAt) as ModelBlock).header,
    ] as const
    return random.pick(wrong)()
  }

  function headerBy(name: Hex | string): RawHeader | null {
    if (name === 'latest') return isWrong() ? wrongHead() : chain.tip().header
    const block = name.length === 66 ? chain.get(name as Hex) : chain.at(Number(name))
    const header = block?.header ?? null
    if (!isWrong()) return header
    return random.pick<() => RawHeader | null>([
      () => null,
      fail,
      () => chain.tip().header,
      () => header && { ...header, logsBloom: random.pick<Hex | null>([null, `0x${'00'.repeat(256)}`]) },
    ])()
  }

  function isFresh({ number }: ModelBlock): boolean {
    return number > chain.tip().number - options.freshBlocks
  }

  /** Logs that show that the answer is wrong, whatever the block contains. */
  function visiblyWrong(logs: readonly RawLog[]): unknown {
    const [first, ...rest] = logs
    if (first === undefined) return random.pick([fail, () => null])()
    const changed = random.pick<Partial<RawLog>>([
      { removed: true },
      { address: `0x${'0c'.repeat(20)}` },
      { blockHash: `0x${'f'.repeat(64)}` },
    ])
    return random.pick<() => unknown>([
      fail,
      () => [...logs, ...logs, { ...first, data: '0x00' }],
      () => [{ ...first, ...changed }, ...rest],
    ])()
  }

  function without(logs: readonly RawLog[], left: number): RawLog[] {
    return logs.filter((_, index) => index !== left)
  }

  function logsOfBlock(hash: Hex): unknown {
    const block = chain.get(hash)
    if (block === undefined) return fail()
    const { logs } = block
    if (!isWrong()) return logs
    if (!isFresh(block)) return visiblyWrong(logs)
    return random.pick([
      () => [],
      () => without(logs, random.integer(0, 1)),
      () => [...logs, ...logs],
      () => visiblyWrong(logs),
    ])()
  }

  function logsOfRange(from: number, to: number): unknown {
    const blocks = chain.blocks(from, to)
    const logs = blocks.flatMap((block) => block.logs)
    if (from === to || !isWrong()) return logs
    const cut = random.integer(0, logs.length)
    const leftOut = new Set(blocks.filter(() => random.integer(0, 1) === 0).map(({ hash }) => hash))
    return random.pick([
      () => logs.slice(0, cut),
      () => logs.slice(cut),
      () => logs.filter(({ blockHash }) => !leftOut.has(blockHash)),
      () => visiblyWrong(logs),
    ])()
  }

  function receiptsOf(hash: Hex): unknown {
    if (!options.hasReceipts) return null
    const receipts = chain.get(hash)?.receipts ?? null
    if (receipts === null || !isWrong()) return receipts
    return random.pick<() => unknown>([
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

  function answer(method: string, [first]: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_getBlockByNumber':
      case 'eth_getBlockByHash':
        return headerBy(first as Hex)
      case 'eth_getBlockReceipts':
        return receiptsOf(first as Hex)
      case 'eth_getLogs': {
        const { blockHash, fromBlock, toBlock } = first as LogFilter
        return blockHash === undefined
          ? logsOfRange(Number(fromBlock), Number(toBlock))
          : logsOfBlock(blockHash)
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
    client: client as unknown as PublicClient,
    /** Allows this number of wrong answers from now on, and counts calls from 0. */
    allow(lieCount: number) {
      wrongAnswersLeft = lieCount
      calls = 0
    },
  }
}
