import type { Hex } from '../../packages/protocol/src/values/hex.js'
import type { ModelChain } from '../support/model-chain/model-chain.js'
import type { Asked, ModelNode } from '../support/model-chain/model-node.js'
import type { Random } from '../support/random.js'

/** What a node says that is not so, or refuses (docs/decisions.md, D22). Each answer is well-formed. */
export interface Lies {
  /** The logs of a block are left out until it is so many blocks deep. */
  lateLogs: number
  /** How often an answer is that of a node that is so many blocks behind, in percent. */
  lagging: { percent: number; blocks: number }
  /** How often an answer is `null`, or an error that says nothing of the call, in percent. */
  failing: number
  /** The most blocks of a range of logs. */
  range: number
  /** Transactions are refused whatever they pay, or taken although the answer is an error. */
  broadcast: 'right' | 'refused' | 'taken with an error'
  /** A refusal does not say why. */
  hasOddWords: boolean
}

const METHODS_AT_BLOCK: Readonly<Record<string, number>> = { eth_call: 1, eth_getTransactionCount: 1 }
/** Nodes answer `null` for what they do not have. */
const NULLABLE = ['eth_getTransactionReceipt', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getLogs']

interface LogFilter {
  readonly fromBlock: Hex
  readonly toBlock: Hex
}

/** The lies of a node that says what is so. */
export function noLies(): Lies {
  return {
    lateLogs: 0,
    lagging: { percent: 0, blocks: 0 },
    failing: 0,
    range: Number.POSITIVE_INFINITY,
    broadcast: 'right',
    hasOddWords: false,
  }
}

/** Makes a node lie. @param lies at the time of each call */
export function makeLie(node: ModelNode, chain: ModelChain, random: Random, lies: () => Lies): void {
  const chance = (percent: number) => percent > 0 && random.integer(1, 100) <= percent
  const hex = (number: number): Hex => `0x${number.toString(16)}`

  /** As a node that has fewer blocks. */
  function asBehind({ method, params = [] }: Asked, blocks: number, answer: (params?: unknown[]) => unknown) {
    const newest = Math.max(0, chain.head().number - blocks)
    const at = method === 'eth_getBlockByNumber' ? 0 : METHODS_AT_BLOCK[method]
    if (at === undefined) return answer()
    const tag = params[at] ?? 'latest'
    if (tag !== 'latest') {
      if (Number(tag) <= newest) return answer()
      if (method === 'eth_getBlockByNumber') return null
      throw new Error('header not found')
    }
    return answer(params.with(at, hex(newest)))
  }

  function logs(answer: () => unknown, { fromBlock, toBlock }: LogFilter) {
    const { range, lateLogs } = lies()
    if (Number(toBlock) - Number(fromBlock) >= range)
      throw Object.assign(new Error(`the range is above ${range} blocks`), { code: -32005 })
    const newest = chain.head().number - lateLogs
    return (answer() as { blockNumber: Hex }[]).filter(({ blockNumber }) => Number(blockNumber) <= newest)
  }

  function take(answer: () => unknown) {
    const { broadcast, hasOddWords } = lies()
    if (broadcast === 'refused') throw Object.assign(new Error('txpool is full'), { code: -32000 })
    try {
      const hash = answer()
      if (broadcast === 'right') return hash
    } catch (error) {
      if (!hasOddWords) throw error
    }
    throw Object.assign(new Error('no'), { code: -32000 })
  }

  node.intercept((asked, answer) => {
    const { method, params = [] } = asked
    const { lagging, failing } = lies()
    if (chance(failing)) {
      if (NULLABLE.includes(method)) return null
      throw Object.assign(new Error('internal error'), { code: -32603 })
    }
    if (method === 'eth_sendRawTransaction') return take(answer)
    if (method === 'eth_getLogs') return logs(answer, params[0] as LogFilter)
    return chance(lagging.percent) ? asBehind(asked, lagging.blocks, answer) : answer()
  })
}
