import type { PublicClient } from 'viem'
import type { EventWithPosition } from '../domain/block.js'
import { type Address, type Hex, isQuantity } from '../domain/hex.js'
import type { CompletedEvent, IncompleteEvent } from '../domain/log-completion.js'
import { decodeLogs, type RawLog } from './decode-logs.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { checkedLogs } from './log-answer.js'
import { isRpcResponseError } from './rpc-error.js'

interface ReadTransactionsOptions {
  /** A client of the chain's endpoints. */
  readonly client: PublicClient
  readonly chainId: number
  /** The contract, lower case. */
  readonly address: Address
}

/**
 * Reads the transactions and times of published events from their blocks.
 * @returns those that the node still has; many nodes remove old logs. An answer that cannot be true counts as none, so that
 *   one bad block does not keep the others incomplete
 * @throws viem's errors when the node does not answer
 */
export async function readTransactions(
  { client, chainId, address }: ReadTransactionsOptions,
  events: readonly IncompleteEvent[],
): Promise<CompletedEvent[]> {
  async function readBlock(blockHash: Hex): Promise<readonly EventWithPosition[]> {
    const filter = { address, blockHash }
    const logs: RawLog[] = checkedLogs(
      await client.request({ method: 'eth_getLogs', params: [filter] }),
      address,
    )
    if (logs.some((log) => log.blockHash !== blockHash))
      throw new InconsistentAnswerError(`block ${blockHash} came with logs of another block`)
    return decodeLogs(chainId, logs).events
  }

  async function readTime(blockHash: Hex): Promise<number | undefined> {
    const block = await client.request({ method: 'eth_getBlockByHash', params: [blockHash, false] })
    return block?.hash === blockHash && isQuantity(block.timestamp) ? Number(block.timestamp) : undefined
  }

  const hashes = [...new Set(events.map(({ blockHash }) => blockHash))]
  const blocks = new Map(
    await Promise.all(
      hashes.map(async (hash) => {
        const [logs, time] = await Promise.all([orMissing(readBlock(hash)), orMissing(readTime(hash))])
        return [hash, { logs: logs ?? [], time }] as const
      }),
    ),
  )
  return events.flatMap(({ sequence, type, orderId, blockHash }) => {
    const { logs = [], time: blockTime } = blocks.get(blockHash) ?? {}
    const found = logs.find(({ event }) => event.type === type && event.orderId === orderId)
    const transactionHash = found?.event.transactionHash
    if (transactionHash === undefined || blockTime === undefined) return []
    return [{ sequence, transactionHash, blockTime }]
  })
}

/** The answer of a node; undefined when the node answers that it does not have it, or with something that cannot be true. */
async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!isRpcResponseError(error) && !(error instanceof InconsistentAnswerError)) throw error
    return undefined
  }
}
