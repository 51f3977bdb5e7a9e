import { type Address, encodeEventTopics, erc20Abi, type Hex, pad } from 'viem'
import { logIn } from '../../../protocol/src/node/parse-blocks.js'
import type { NodeLog } from '../../../protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { ChainParts } from '../chain/chain-parts.js'
import type { Terms } from './order-terms.js'

/** The amounts of an order. */
export type Trade = Pick<Terms, 'inputAmount' | 'outputAmount'>

const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })

/**
 * Reads what the solver has got and paid by the transaction that has settled an order: another account may have paid the output, and
 * less input than was quoted may have been taken.
 * @returns undefined when the node does not show it
 * @throws viem's errors
 */
export async function readTrade(
  { chain, solver }: Pick<ChainParts, 'chain' | 'solver'>,
  orderId: Hex,
  { user, inputToken, outputToken }: Terms,
  transactionHash: Hex,
): Promise<Trade | undefined> {
  const { client, chainId, settlement } = chain
  const { decodeLogs } = settlementOf(chainId)
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [transactionHash] })
  const settledBy = (log: NodeLog) => {
    const [found] = decodeLogs(chainId, log.address === settlement ? [log] : []).events
    return found?.event.type === 'Settled' ? found.event.orderId : undefined
  }
  const isMoved = ({ topics: [topic, from, to] }: NodeLog, sender: Address, receiver?: Address) =>
    topic === TRANSFER && from === pad(sender) && (receiver === undefined || to === pad(receiver))
  const steps = logsOf(receipt)
    .map((log) => ({ ...log, orderId: settledBy(log) }))
    .filter((log) => log.orderId !== undefined || isMoved(log, solver) || isMoved(log, settlement, solver))
  // Others may settle several orders at once. One contract emits the event of each before its transfers, and others after them.
  const ordered = steps[0]?.orderId === undefined ? steps.toReversed() : steps
  const own = ordered.findIndex((log) => log.orderId === orderId)
  if (own === -1) return undefined
  const after = ordered.slice(own + 1)
  const next = after.findIndex((log) => log.orderId !== undefined)
  const moved = after.slice(0, next === -1 ? undefined : next)
  const sum = (token: Address, sender: Address, receiver: Address) =>
    moved
      .filter((log) => log.address === token && isMoved(log, sender, receiver))
      .reduce((total, { data }) => total + BigInt(data), 0n)
  return {
    inputAmount: sum(inputToken, settlement, solver),
    outputAmount: sum(outputToken, solver, user),
  }
}

/** The logs of a receipt; none when they cannot be read. */
function logsOf(receipt: { readonly logs?: readonly unknown[] } | null): NodeLog[] {
  try {
    return (receipt?.logs ?? []).map((log, index) => logIn(log, `logs[${index}]`))
  } catch {
    return []
  }
}
