import { setTimeout as delay } from 'node:timers/promises'
import type { PublicClient } from 'viem'
import { READ_TOPICS } from '../../packages/protocol/src/deployed-settlement.js'
import type { RawLog } from '../../packages/protocol/src/settlement.js'
import type { Address, Hex } from '../domain/hex.js'
import type { TimedHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { checkedLogs, firstTopics, includesLogs } from './log-answer.js'
import { createTopicsInBloom, isEmptyBloom, type TopicsInBloom } from './logs-bloom.js'
import { createReceiptReader, type ReceiptReader } from './receipt-reader.js'

/** The contract's logs in one block. */
export interface BlockLogs {
  readonly logs: readonly RawLog[]
  /** Whether the header's bloom or the block's receipts prove that none is missing. */
  readonly isProven: boolean
}

/**
 * Reads the contract's logs in the block with a header's hash (EIP-234).
 *
 * An answer is accepted when it fits the block:
 * - The header's bloom excludes logs, or the block has no transactions. This is proven, and costs no call.
 * - The bloom allows logs, and the block's receipts have them. This is proven. The reader requests the receipts instead
 *   of the logs, so that a block with events costs one call.
 * - The receipts prove nothing, and the logs have the topics that the bloom indicates. This is not proven, because a
 *   second log with one of these topics may be missing.
 *
 * When an answer does not fit, the reader asks again, at this endpoint and at the others. When all answers are equal,
 * the bloom has a false positive, and the reader accepts the answer without proof.
 * @throws InconsistentAnswerError when no answer fits and the answers differ; otherwise viem's errors
 */
export type ReadBlockLogs = (header: TimedHeader) => Promise<BlockLogs>

interface Source {
  readonly client: PublicClient
  readonly receipts: ReceiptReader
}

interface Answer extends BlockLogs {
  /** Whether the answer does not contradict the header. */
  readonly fits: boolean
}

/** Time that a node gets to index a block before the last request. */
const LAST_PAUSE_MS = 250
const NO_TOPICS: ReadonlySet<Hex> = new Set()

/**
 * Builds the reader of an endpoint.
 * @param clients the endpoint's client first, then those of other endpoints, which are asked in case of doubt
 * @param address the contract, lower case
 * @param pause waits for this number of milliseconds
 */
export function createBlockLogsReader(
  [client, ...others]: readonly [PublicClient, ...PublicClient[]],
  address: Address,
  pause: (ms: number) => Promise<unknown> = delay,
): ReadBlockLogs {
  const topicsIn = createTopicsInBloom(address, READ_TOPICS)
  const own = toSource(client, address, topicsIn)
  const otherSources = others.map((other) => toSource(other, address, topicsIn))
  /** @returns undefined when the header does not say which topics are possible: some nodes send only zero blooms */
  function expectedIn({ logsBloom = '0x', isEmpty }: TimedHeader): ReadonlySet<Hex> | undefined {
    if (isEmptyBloom(logsBloom)) return isEmpty ? NO_TOPICS : undefined
    return topicsIn(logsBloom)
  }

  async function ask({ client, receipts }: Source, header: TimedHeader): Promise<Answer> {
    const expected = expectedIn(header)
    if (expected?.size === 0) return { logs: [], isProven: true, fits: true }
    const mayHaveLogs = expected !== undefined
    const isAskedFirst = mayHaveLogs && !receipts.isDoubtful()
    const early = isAskedFirst ? await receipts.logsOf(header) : undefined
    if (early !== undefined) return { logs: early, isProven: true, fits: true }
    const filter = { address, blockHash: header.hash }
    const logs = checkedLogs(await client.request({ method: 'eth_getLogs', params: [filter] }), address)
    if (!logs.every((log) => log.blockHash === header.hash && Number(log.blockNumber) === header.number))
      throw new InconsistentAnswerError(`block ${header.number} came with logs of another block`)
    if (logs.length === 0 && !mayHaveLogs) return { logs, isProven: false, fits: true }
    const proof = isAskedFirst ? undefined : await receipts.logsOf(header)
    if (proof !== undefined && includesLogs(proof, logs)) return { logs: proof, isProven: true, fits: true }
    const fits = proof === undefined && (expected === undefined || hasTopics(logs, expected))
    return { logs, isProven: false, fits }
  }

  return async (header) => {
    const answers = [await ask(own, header)]
    const again = [own, ...otherSources, own]
    for (const [index, source] of again.entries()) {
      if (answers.at(-1)?.fits) break
      if (index === again.length - 1) await pause(LAST_PAUSE_MS)
      const answer = await ask(source, header).catch((error) => {
        if (source === own) throw error
        return undefined
      })
      if (answer !== undefined) answers.push(answer)
    }
    const last = answers.at(-1)
    if (last !== undefined && (last.fits || areEqual(answers))) return last
    throw new InconsistentAnswerError(`the logs of block ${header.number} do not fit its bloom`)
  }
}

function toSource(client: PublicClient, address: Address, topicsIn: TopicsInBloom): Source {
  return { client, receipts: createReceiptReader(client, address, topicsIn) }
}

/** Whether logs have exactly these topics, of the topics that the service reads. */
function hasTopics(logs: readonly RawLog[], topics: ReadonlySet<Hex>): boolean {
  const came = firstTopics(logs)
  return READ_TOPICS.every((topic) => came.has(topic) === topics.has(topic))
}

function areEqual(answers: readonly BlockLogs[]): boolean {
  const [first] = answers
  return answers.every(({ logs }) => logs.length === first?.logs.length && includesLogs(logs, first.logs))
}
