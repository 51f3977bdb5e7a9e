import { setTimeout as delay } from 'node:timers/promises'
import type { PublicClient } from 'viem'
import type { Address, Hex } from '../domain/hex.js'
import type { TimedHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { checkedLogs, firstTopics, includesLogs } from './log-answer.js'
import { createTopicsInBloom, isEmptyBloom, type TopicsInBloom } from './logs-bloom.js'
import { type RawLog, READ_TOPICS } from './order-events.js'
import { createReceiptReader, type ReceiptReader } from './receipt-reader.js'

/** The contract's logs in one block. */
export interface BlockLogs {
  readonly logs: readonly RawLog[]
  /** Whether the header's bloom or the block's receipts prove that none is missing. */
  readonly isProven: boolean
}

/**
 * Reads the contract's logs in the very block of a header (EIP-234).
 *
 * An answer is believed when it fits the block:
 * - the header's bloom says that no log can be there, or it has no transactions, and no log came: this is proven;
 * - the bloom says that there may be logs, and the block's receipts have them: this is proven. The receipts are asked
 *   for instead of the logs, so a block with events costs one call;
 * - the receipts prove nothing, and the logs have the topics that the bloom tells of: a second log with one of these
 *   topics may be missing, so this is not proven.
 *
 * An answer that does not fit is asked for again, at this endpoint and at the others. When all answers are equal, the
 * bloom has a false positive, and the answer is taken without proof.
 * @throws InconsistentAnswerError when no answer fits and the answers differ; else viem's errors
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

/** How long a node has to index a block, before it is asked for the last time. */
const LAST_PAUSE_MS = 250
const NO_TOPICS: ReadonlySet<Hex> = new Set()

/**
 * Builds the reader of an endpoint.
 * @param clients the endpoint itself, then those of other endpoints that can be asked in doubt
 * @param address the contract, lower case
 * @param pause waits so many milliseconds
 */
export function createBlockLogs(
  [client, ...others]: readonly [PublicClient, ...PublicClient[]],
  address: Address,
  pause: (ms: number) => Promise<unknown> = delay,
): ReadBlockLogs {
  const topicsIn = createTopicsInBloom(address, READ_TOPICS)
  const own = toSource(client, address, topicsIn)
  const otherSources = others.map((other) => toSource(other, address, topicsIn))
  /** @returns undefined when the header does not say which topics there may be: of some nodes, each bloom is zero */
  function expectedIn({ logsBloom = '0x', isEmpty }: TimedHeader): ReadonlySet<Hex> | undefined {
    if (isEmptyBloom(logsBloom)) return isEmpty ? NO_TOPICS : undefined
    return topicsIn(logsBloom)
  }

  async function ask({ client, receipts }: Source, header: TimedHeader): Promise<Answer> {
    const expected = expectedIn(header)
    const mayHaveLogs = expected !== undefined && expected.size > 0
    const isAskedFirst = mayHaveLogs && !receipts.isDoubtful()
    const early = isAskedFirst ? await receipts.logsOf(header) : undefined
    if (early !== undefined) return { logs: early, isProven: true, fits: true }
    const filter = { address, blockHash: header.hash }
    const logs = checkedLogs(await client.request({ method: 'eth_getLogs', params: [filter] }), address)
    if (!logs.every((log) => log.blockHash === header.hash && Number(log.blockNumber) === header.number))
      throw new InconsistentAnswerError(`block ${header.number} came with logs of another one`)
    if (logs.length === 0 && !mayHaveLogs) return { logs, isProven: expected !== undefined, fits: true }
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

/** Whether logs have exactly these topics among those that are read. */
function hasTopics(logs: readonly RawLog[], topics: ReadonlySet<Hex>): boolean {
  const came = firstTopics(logs)
  return READ_TOPICS.every((topic) => came.has(topic) === topics.has(topic))
}

function areEqual(answers: readonly BlockLogs[]): boolean {
  const [first] = answers
  return answers.every(({ logs }) => logs.length === first?.logs.length && includesLogs(logs, first.logs))
}
