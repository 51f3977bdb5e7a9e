import type { Address, LogTopic } from 'viem'
import { createRangeSize, isForSize, readRange } from '../../../chain/src/block-ranges.js'
import { rpcErrorIn } from '../../../chain/src/json-rpc.js'
import { isNodeAnswer } from '../../../protocol/src/node/node-answer.js'
import { logsIn } from '../../../protocol/src/node/parse-blocks.js'
import type { KnownOrder } from '../../../protocol/src/orders/order.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { toQuantity } from '../../../protocol/src/values/hex.js'
import type { ChainBasics } from './chain-parts.js'
import type { SolverChain } from './open-chain.js'

/** Blocks that are read at once, where the node allows so many. */
export const MAX_RANGE = 1_000
/** Blocks may have come faster than lately. */
const FASTER = 4

/** Both blocks included. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** Reads logs of contracts. @throws viem's errors */
export async function readLogs(
  { client }: SolverChain,
  { from, to }: BlockRange,
  topics: LogTopic[],
  ...contracts: Address[]
) {
  // Some nodes take no lists of addresses.
  const address = contracts.length === 1 ? contracts[0] : contracts
  const filter = { address, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) }
  return logsIn(await client.request({ method: 'eth_getLogs', params: [filter] }), ...contracts)
}

/** As `isForSize`, also for the errors of a market maker's own transport. */
export const onFailed = (error: unknown) =>
  rpcErrorIn(error) === undefined ? isNodeAnswer(error) : isForSize(error)

/**
 * Reads what the end of a refunded order has taken of the bond, by the event of the contract.
 * @returns undefined while the node does not show it
 * @throws viem's errors
 */
export async function readSlash(
  { chain, time }: ChainBasics,
  { orderId, fillDeadline }: KnownOrder,
): Promise<bigint | undefined> {
  const { chainId, settlement } = chain
  const { READ_TOPICS, decodeLogs } = settlementOf(chainId)
  const seconds = Math.max(1, time.passed() - fillDeadline)
  const depth = Math.ceil((FASTER * seconds) / time.blockSeconds()) + time.overlap()
  const maxTo = Number(time.atDepth(0).blockNumber)
  const size = createRangeSize(MAX_RANGE)
  const read = (from: number, to: number) =>
    readLogs(chain, { from, to }, [[...READ_TOPICS], orderId], settlement)
  for (let from = Number(time.atDepth(depth).blockNumber); from <= maxTo; ) {
    const { to, range } = await readRange(size, {
      from,
      maxTo,
      read,
      logsIn: (logs) => logs.length,
      onFailed,
    })
    const { events, changedOrders } = decodeLogs(chainId, range)
    for (const { event } of events) if (event.type === 'Refunded') return event.bondSlashed
    // Its address was emptied without a slash.
    if (changedOrders.length > 0) return 0n
    from = to + 1
  }
  return undefined
}
