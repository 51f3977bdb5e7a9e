import { createPublicClient, http } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { type EventMessage, expectedMessages } from '../streams/event-messages.js'
import type { TestChain } from './chain.js'

type Chain = Pick<TestChain, 'devnet' | 'chainId' | 'contracts'>

/** An order as ListOrders returns it. */
export interface OrderJson {
  readonly orderId: string
  readonly state: string
  readonly [field: string]: unknown
}

const STATES = ['NONE', 'DEPOSITED', 'SETTLED', 'REFUNDED']
const STEPS = { Deposited: 'deposited', Settled: 'settled', Refunded: 'refunded' } as const

/**
 * The list of orders that follows from the chain: its events and the contract's state, read without the service.
 * @param toBlock the last block whose events count, included
 */
export async function expectedOrders(chain: Chain, toBlock: number): Promise<OrderJson[]> {
  const client = createPublicClient({ transport: http(chain.devnet.rpcUrl, { batch: { batchSize: 50 } }) })
  const events = new Map<string, EventMessage[]>()
  for (const event of await expectedMessages(chain, 0, toBlock))
    events.set(event.orderId, [...(events.get(event.orderId) ?? []), event])
  const orders = [...events.values()].map(async (own) => {
    const [first] = own as [EventMessage]
    const { orderId, chainId } = first
    const [
      user,
      solver,
      inputToken,
      inputAmount,
      outputToken,
      outputAmount,
      outputChainId,
      fillDeadline,
      state,
    ] = await client.readContract({
      address: chain.contracts.settlement,
      abi: settlementAbi,
      functionName: 'orders',
      args: [orderId as `0x${string}`],
      blockNumber: BigInt(toBlock),
    })
    const order: OrderJson = {
      orderId,
      chainId,
      state: STATES[state] ?? '',
      user,
      solver,
      inputToken,
      inputAmount: String(inputAmount),
      outputToken,
      outputAmount: String(outputAmount),
      outputChainId: Number(outputChainId),
      fillDeadline,
      ...Object.fromEntries(own.map((event) => [STEPS[event.type], stepOf(event)])),
    }
    return { order, first }
  })
  return (await Promise.all(orders))
    .sort((a, b) => b.first.blockNumber - a.first.blockNumber || b.first.logIndex - a.first.logIndex)
    .map(({ order }) => order)
}

function stepOf({ blockNumber, blockTime, transactionHash }: EventMessage) {
  return { blockNumber, blockTime, transactionHash }
}
