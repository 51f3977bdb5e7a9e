import { encodeEventTopics, erc20Abi, type Hex, pad } from 'viem'
import { logIn } from '../../../protocol/src/node/parse-blocks.js'
import type { NodeLog } from '../../../protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import type { ChainParts } from '../chain/chain-parts.js'
import type { OrderTerms } from './order-terms.js'

const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })

/**
 * Reads what the solver has got and paid by the transaction that has settled an order: another account may have paid the output, and
 * less input than was quoted may have been taken.
 * @returns its amounts; undefined when the node does not show it
 * @throws viem's errors
 */
export async function readTrade(
  { chain: { client, chainId, settlement }, solver }: ChainParts,
  { orderId, user, inputToken, outputToken }: OrderTerms,
  transactionHash: Hex,
): Promise<Pick<OrderTerms, 'inputAmount' | 'outputAmount'> | undefined> {
  const { decodeLogs } = settlementOf(chainId)
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [transactionHash] })
  const [own, contract, receiver] = [solver, settlement, lowerCase(user)].map((address) => pad(address))
  const steps = logsOf(receipt).map((log) => {
    const [found] = decodeLogs(chainId, log.address === settlement ? [log] : []).events
    const settled = found?.event.type === 'Settled' ? found.event.orderId : undefined
    const [topic, from, to] = log.topics
    const isOwn = topic === TRANSFER && from === own
    return { ...log, settled, isOwn, isIn: topic === TRANSFER && from === contract && to === own }
  })
  // Others may settle several orders at once. One contract emits the event of each before its transfers, and others after them.
  const first = steps.find(({ settled, isOwn, isIn }) => settled !== undefined || isOwn || isIn)
  if (first?.settled === undefined) steps.reverse()
  const from = steps.findIndex(({ settled }) => settled === orderId)
  if (from === -1) return undefined
  const trade = { inputAmount: 0n, outputAmount: 0n }
  for (const { settled, address, isOwn, isIn, topics, data } of steps.slice(from + 1)) {
    if (settled !== undefined) break
    if (isIn && address === lowerCase(inputToken)) trade.inputAmount += BigInt(data)
    if (isOwn && topics[2] === receiver && address === lowerCase(outputToken))
      trade.outputAmount += BigInt(data)
  }
  return trade
}

/** The logs of a receipt; none when they cannot be read. */
function logsOf(receipt: { readonly logs?: readonly unknown[] } | null): NodeLog[] {
  try {
    return (receipt?.logs ?? []).map((log, index) => logIn(log, `logs[${index}]`))
  } catch {
    return []
  }
}
