import type { PublicClient } from 'viem'
import {
  InconsistentAnswerError,
  includesLogs,
  inOrder,
  logsIn,
  type TimedHeader,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import type { NodeLog } from '../../../packages/protocol/src/settlement/settlement.js'
import { type Address, toQuantity } from '../../../packages/protocol/src/values/hex.js'
import { groupBy } from '../../../packages/protocol/src/values/parts.js'
import type { BlockLogsReader } from './block-logs.js'

/** A node has left out logs of a range. A smaller range may be complete. */
export class IncompleteRangeError extends InconsistentAnswerError {}

/** The contract's logs in a range of blocks. */
interface RangeLogs {
  /** The last block. */
  readonly end: TimedHeader
  /** The headers that were read, with that of the last block. */
  readonly headers: readonly TimedHeader[]
  readonly logs: readonly NodeLog[]
}

/**
 * Reads the contract's logs from one block to another, both included.
 *
 * All headers of a long range cost far more than its logs: 10,000 headers are 200 requests of 50 calls, and some 200 MB
 * on a busy chain. So at most 98 headers are checked. They come with the logs, in two requests of 50 calls. A
 * third request reads the blocks of the first and of the last log again, because a truncated answer may end there. It
 * also reads blocks without logs whose header allows some.
 * - A range of up to 99 blocks is checked completely, and missing logs are added.
 * - In a longer range, blocks at equal distances are checked. This finds an answer that lacks a large part, but not one
 *   that lacks a few blocks.
 * - A block with logs is trusted, except at both ends.
 * @throws IncompleteRangeError when a longer range lacks logs
 */
type ReadRangeLogs = (from: number, to: number) => Promise<RangeLogs>

/** Next to the last block. With that header and the logs, these are two batches of 50 calls. */
const MAX_CHECKED = 98
/** Blocks of a sample that are read by their hash. In full blocks, a bloom has many false positives. */
const MAX_DOUBTFUL = 4

/** Builds the reader of an endpoint. @param address the contract, lower case */
export function createRangeLogsReader(
  client: PublicClient,
  address: Address,
  readHeader: (number: number) => Promise<TimedHeader>,
  blockLogs: BlockLogsReader,
): ReadRangeLogs {
  /**
   * Whether a block without logs in the answer may have some: its bloom allows it, or it has no bloom and other blocks do.
   * @param hasBlooms whether any header of the range has a bloom
   */
  function isDoubtful(header: TimedHeader, hasBlooms: boolean): boolean {
    const topics = blockLogs.possibleTopics(header)
    return topics === undefined ? hasBlooms && header.logsBloom === undefined : topics.size > 0
  }

  /** Reads the blocks of the first and of the last log again, because a truncated answer may end within them. */
  async function readEnds(blocks: Iterable<number>): Promise<NodeLog[]> {
    const numbers = [...blocks].sort((a, b) => a - b)
    const ends = new Set([...numbers.slice(0, 1), ...numbers.slice(-1)])
    return (await Promise.all([...ends].map((number) => ask(number, number)))).flat()
  }

  async function ask(from: number, to: number): Promise<NodeLog[]> {
    const filter = { address, fromBlock: toQuantity(from), toBlock: toQuantity(to) }
    return logsIn(await client.request({ method: 'eth_getLogs', params: [filter] }), address)
  }

  return async (from, to) => {
    // In one request: a node that does not have the last block yet would answer with the logs that it has.
    const [end, logs, checked] = await Promise.all([
      readHeader(to),
      ask(from, to),
      Promise.all(spread(from, to - 1).map(readHeader)),
    ])
    const came = groupBy(logs, ({ blockNumber }) => blockNumber)
    const headers = [...checked, end]
    const isTrusted =
      logs.every(({ blockNumber }) => blockNumber >= from && blockNumber <= to) &&
      headers.every(({ number, hash }) =>
        (came.get(number) ?? []).every(({ blockHash }) => blockHash === hash),
      )
    if (!isTrusted)
      throw new InconsistentAnswerError(`blocks ${from} to ${to} came with logs of other blocks`, 'logs')
    for (const header of headers) blockLogs.compare(header, came.get(header.number) ?? [])
    const hasBlooms = headers.some(({ logsBloom }) => logsBloom !== undefined)
    const doubtful = headers.filter((header) => !came.has(header.number) && isDoubtful(header, hasBlooms))
    const isWhole = headers.length === to - from + 1
    const [doubted, ends] = await Promise.all([
      Promise.all((isWhole ? doubtful : doubtful.slice(0, MAX_DOUBTFUL)).map(blockLogs.read)),
      readEnds(came.keys()),
    ])
    const again = [...doubted.flatMap(({ logs }) => logs), ...ends]
    if (!isWhole && !includesLogs(logs, again))
      throw new IncompleteRangeError(`logs of blocks ${from} to ${to} are missing`, 'logs')
    return { end, headers, logs: inOrder([...logs, ...again]) }
  }
}

/** At most `MAX_CHECKED` numbers from one to another, both included, at equal distances from a random start. */
function spread(from: number, to: number): number[] {
  const blocks = to - from + 1
  const count = Math.min(blocks, MAX_CHECKED)
  const phase = Math.random()
  return Array.from({ length: count }, (_, index) => from + Math.floor(((index + phase) * blocks) / count))
}
