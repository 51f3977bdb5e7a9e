import {
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  type PublicClient,
  UnsupportedProviderMethodError,
} from 'viem'
import type { Address, Hex } from '../domain/hex.js'
import type { TimedHeader } from './headers.js'
import { isOf } from './log-answer.js'
import { coversBloom, isBloomOf, isEmptyBloom, type TopicsInBloom } from './logs-bloom.js'
import type { RawLog } from './order-events.js'

/** Reads the receipts of blocks at one endpoint (`eth_getBlockReceipts`). */
export interface ReceiptReader {
  /** Whether the last answer was none, so that receipts are better not asked for together with anything else. */
  isDoubtful(): boolean
  /**
   * The contract's logs in a block.
   * @returns undefined where the node does not have the receipts, or where they do not explain the header's bloom
   * @throws what viem does when the node fails, until it has failed three times in a row
   */
  logsOf(header: TimedHeader): Promise<RawLog[] | undefined>
}

interface RawReceipt {
  readonly blockHash: Hex
  readonly logsBloom?: Hex
  readonly logs: readonly RawLog[]
}

/** How long a node that does not have receipts is not asked for any. */
const PAUSE_MS = 5 * 60_000
const MAX_FAILURES = 3

/** Builds the reader of an endpoint. @param address the contract, lower case */
export function createReceiptReader(
  client: PublicClient,
  address: Address,
  topicsIn: TopicsInBloom,
): ReceiptReader {
  let failures = 0
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
      // What is asked for together fails together: that counts as one failure.
      failures = isAlone ? failures + 1 : 1
      const isMissing = isMethodMissing(error)
      if (!isMissing && failures < MAX_FAILURES) throw error
      pausedUntil = performance.now() + PAUSE_MS
      return null
    }
  }

  /** Whether a receipt has all logs that its own bloom tells of. It is compared only where the contract may have some. */
  function isWhole({ logs, logsBloom }: RawReceipt): boolean {
    if (logsBloom === undefined || isEmptyBloom(logsBloom)) return true
    return topicsIn(logsBloom).size === 0 || isBloomOf(logsBloom, logs)
  }

  function isProof(receipts: readonly RawReceipt[], { hash, logsBloom = '0x' }: TimedHeader): boolean {
    const blooms = receipts.flatMap((receipt) => receipt.logsBloom ?? [])
    return (
      receipts.every((receipt) => receipt.blockHash === hash && isWhole(receipt)) &&
      (isEmptyBloom(logsBloom) || coversBloom(blooms, logsBloom))
    )
  }

  return {
    isDoubtful: () => failures > 0,
    async logsOf(header) {
      const receipts = (await request(header.hash)) as RawReceipt[] | null
      if (!Array.isArray(receipts) || !isProof(receipts, header)) return undefined
      return receipts.flatMap(({ logs }) => logs.filter((log) => isOf(address, log)))
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
