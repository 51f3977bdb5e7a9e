import {
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  type PublicClient,
  UnsupportedProviderMethodError,
} from 'viem'
import type { RawLog } from '../../packages/protocol/src/settlement.js'
import type { Address, Hex } from '../domain/hex.js'
import type { TimedHeader } from './headers.js'
import { checkedLogs, firstTopics, isOf } from './log-answer.js'
import { coversBloom, isEmptyBloom, type TopicsInBloom } from './logs-bloom.js'

/** Reads the receipts of blocks at one endpoint (`eth_getBlockReceipts`). */
export interface ReceiptReader {
  /** Whether the last answer proved nothing, so that the logs should be requested first. */
  isDoubtful(): boolean
  /**
   * The contract's logs in a block.
   * @returns undefined when the node does not have the receipts or when they prove nothing: they do not explain the
   *   header's bloom, or the indices of their logs have gaps
   * @throws viem's errors when the node fails, until it has failed three times in a row
   */
  logsOf(header: TimedHeader): Promise<RawLog[] | undefined>
}

interface RawReceipt {
  readonly blockHash: Hex
  readonly logsBloom?: Hex
  readonly logs: readonly RawLog[]
}

/** Time for which a node without receipts is not asked for them. */
const PAUSE_MS = 5 * 60_000
const MAX_FAILURES = 3

/** Builds the reader of an endpoint. @param address the contract, lower case */
export function createReceiptReader(
  client: PublicClient,
  address: Address,
  topicsIn: TopicsInBloom,
): ReceiptReader {
  let failures = 0
  let isUnproven = false
  let pausedUntil = Number.NEGATIVE_INFINITY

  async function request(hash: Hex): Promise<unknown> {
    if (performance.now() < pausedUntil) return null
    const isAlone = failures > 0
    try {
      const answer = await client.request({
        method: 'eth_getBlockReceipts',
        params: [hash],
      } as unknown as Parameters<typeof client.request>[0])
      failures = 0
      return answer
    } catch (error) {
      // Requests of one batch fail together and count as one failure.
      failures = isAlone ? failures + 1 : 1
      const isMissing = isMethodMissing(error)
      if (!isMissing && failures < MAX_FAILURES) throw error
      pausedUntil = performance.now() + PAUSE_MS
      return null
    }
  }

  /** Whether a receipt has logs with all topics that its own bloom allows. */
  function hasItsTopics({ logs, logsBloom }: RawReceipt): boolean {
    if (logsBloom === undefined || isEmptyBloom(logsBloom)) return true
    const topics = firstTopics(logs.filter((log) => isOf(address, log)))
    return [...topicsIn(logsBloom)].every((topic) => topics.has(topic))
  }

  function isProof(
    receipts: readonly RawReceipt[],
    { number, hash, logsBloom = '0x' }: TimedHeader,
  ): boolean {
    const blooms = receipts.flatMap((receipt) => receipt.logsBloom ?? [])
    return (
      receipts.every((receipt) => receipt.blockHash === hash && hasItsTopics(receipt)) &&
      // Nodes count the logs of a block from 0.
      receipts
        .flatMap(({ logs }) => logs)
        .every((log, index) => Number(log.logIndex) === index && Number(log.blockNumber) === number) &&
      (isEmptyBloom(logsBloom) || coversBloom(blooms, logsBloom))
    )
  }

  return {
    isDoubtful: () => failures > 0 || isUnproven,
    async logsOf(header) {
      const receipts = (await request(header.hash)) as RawReceipt[] | null
      isUnproven = !Array.isArray(receipts) || !isProof(receipts, header)
      if (receipts === null || isUnproven) return undefined
      const logs = receipts.flatMap((receipt) => receipt.logs.filter((log) => isOf(address, log)))
      return checkedLogs(logs, address)
    },
  }
}

function isMethodMissing(error: unknown): boolean {
  return (
    error instanceof MethodNotFoundRpcError ||
    error instanceof MethodNotSupportedRpcError ||
    error instanceof UnsupportedProviderMethodError
  )
}
