import type { PublicClient } from 'viem'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import {
  agreesWithBloom,
  hasTopics,
  isIn,
  possibleTopics,
  provenReceipts,
  type WatchedContract,
} from '../../../packages/protocol/src/node/judge-block.js'
import {
  InconsistentAnswerError,
  includesLogs,
  logsIn,
  type TimedHeader,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import type { NodeLog } from '../../../packages/protocol/src/settlement/settlement.js'
import { toQuantity } from '../../../packages/protocol/src/values/hex.js'

/** The contract's logs in one block. */
interface BlockLogs {
  readonly logs: readonly NodeLog[]
  /** Whether the node has proved that none is missing. */
  readonly isProven: boolean
}

/** Reads the contract's logs in single blocks at one endpoint. */
export type BlockLogsReader = ReturnType<typeof createBlockLogsReader>

interface Answer extends BlockLogs {
  /** Whether the answer does not contradict the header. */
  readonly fits: boolean
}

/** Time that a node gets to index a block before the last request. */
const LAST_PAUSE_MS = 250
/** Time for which a node that fails at receipts is not asked for them. */
const RECEIPTS_PAUSE_MS = 60_000
const NO_LOGS: Answer = { logs: [], isProven: true, fits: true }

/**
 * Builds the reader of an endpoint.
 * @param clients the endpoint's client first, then those of other endpoints, which are asked in case of doubt
 */
export function createBlockLogsReader(
  [client, ...others]: readonly [PublicClient, ...PublicClient[]],
  contract: WatchedContract,
  clock: Clock,
) {
  const own = createSource(client, contract, clock)
  const again = [own, ...others.map((other) => createSource(other, contract, clock)), own]

  return {
    ...own,
    /**
     * Reads the logs in the block with a header's hash (EIP-234).
     *
     * An answer is accepted when it fits the block:
     * - The block has no transactions, or a bloom filter that is trusted excludes logs. This is proven, and costs no call.
     * - The block's receipts explain its bloom filter. This is proven. Where the filter allows logs, or is not trusted yet,
     *   the receipts are requested instead of the logs, so that a block with events costs one call.
     * - The logs have the topics that the bloom filter indicates. This is not proven, unless the receipts have the same
     *   logs.
     *
     * When an answer does not fit, the reader asks again, at this endpoint and at the others. When all answers are equal,
     * the bloom has a false positive, and the reader accepts the answer without proof.
     * @throws InconsistentAnswerError when no answer fits and the answers differ; otherwise the client's errors
     */
    async read(header: TimedHeader): Promise<BlockLogs> {
      const answers = [await own.ask(header)]
      for (const [index, source] of again.entries()) {
        if (answers.at(-1)?.fits) break
        if (index === again.length - 1) await clock.sleep(LAST_PAUSE_MS)
        const answer = await source.ask(header).catch((error) => {
          if (source === own) throw error
          return undefined
        })
        if (answer !== undefined) answers.push(answer)
      }
      const last = answers.at(-1)
      if (last?.fits) return last
      if (last === undefined || !areEqual(answers))
        throw new InconsistentAnswerError(`the logs of block ${header.number} do not fit its bloom`, 'logs')
      const byNumber = await own.ask(header, true).catch(() => last)
      return byNumber.fits ? byNumber : last
    },
  }
}

/** One endpoint. */
function createSource(client: PublicClient, contract: WatchedContract, clock: Clock) {
  let trustsBlooms = false
  /** Whether the last receipts proved nothing, so that the logs are requested first. */
  let doubtsReceipts = false
  let pausedUntil = Number.NEGATIVE_INFINITY

  /** The first topics that a block may have; undefined when its header says nothing of them. */
  const possible = (header: TimedHeader) => possibleTopics(contract, header, trustsBlooms)

  function compare(header: TimedHeader, logs: readonly NodeLog[]): void {
    if (logs.length > 0) trustsBlooms = agreesWithBloom(header, logs)
  }

  async function readReceipts(header: TimedHeader): Promise<readonly NodeLog[] | undefined> {
    if (clock.monotonic() < pausedUntil) return undefined
    const call = { method: 'eth_getBlockReceipts', params: [header.hash] }
    const answer: unknown = await client.request(call as never).catch(() => {
      pausedUntil = clock.monotonic() + RECEIPTS_PAUSE_MS
    })
    const proven = provenReceipts(contract, header, answer)
    doubtsReceipts = proven === undefined
    // The logs of other contracts as well, so that trust comes early. It is tested by the contract's own ones.
    if (proven !== undefined) compare(header, trustsBlooms ? proven.logs : proven.all)
    return proven?.logs
  }

  /** @param byNumber some nodes ignore the hash of a filter, and have no receipts */
  async function ask(header: TimedHeader, byNumber = false): Promise<Answer> {
    const topics = possible(header)
    if (topics?.size === 0) return NO_LOGS
    const isAskedFirst = header.logsBloom !== undefined && !doubtsReceipts
    const early = isAskedFirst ? await readReceipts(header) : undefined
    if (early !== undefined) return { logs: early, isProven: true, fits: true }
    const number = toQuantity(header.number)
    const block = byNumber ? { fromBlock: number, toBlock: number } : { blockHash: header.hash }
    const filter = { address: contract.address, ...block }
    const logs = logsIn(await client.request({ method: 'eth_getLogs', params: [filter] }), contract.address)
    if (!logs.every(isIn(header)))
      throw new InconsistentAnswerError(`block ${header.number} came with logs of another block`, 'logs')
    const mayBeMore = logs.length > 0 || topics !== undefined
    const late = mayBeMore && !isAskedFirst ? await readReceipts(header) : undefined
    if (late !== undefined && includesLogs(late, logs)) return { logs: late, isProven: true, fits: true }
    compare(header, logs)
    const fits = late === undefined && (topics === undefined || hasTopics(contract, logs, topics))
    return { logs, isProven: false, fits }
  }

  return { ask, compare, possibleTopics: possible }
}

function areEqual(answers: readonly BlockLogs[]): boolean {
  const [first] = answers
  return answers.every(({ logs }) => logs.length === first?.logs.length && includesLogs(logs, first.logs))
}
