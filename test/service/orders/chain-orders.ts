import type { TestChain } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { type EventMessage, expectedMessages } from '../../support/streams/event-messages.js'

/** The event that moved an order into a state, as the API returns it. */
export interface StepMessage {
  blockNumber: number
  blockTime: number
  transactionHash: string
}

/** An order of a list in the JSON of REST. */
export interface OrderMessage {
  orderId: string
  chainId: number
  state: 'DEPOSITED' | 'SETTLED' | 'REFUNDED'
  user: string
  solver: string
  inputToken: string
  inputAmount: string
  outputToken: string
  outputAmount: string
  outputChainId: number
  fillDeadline: number
  isTerminal: boolean
  isRefundable: boolean
  deposited?: StepMessage
  settled?: StepMessage
  refunded?: StepMessage
}

const STEPS = { Deposited: 'deposited', Settled: 'settled', Refunded: 'refunded' } as const
const STATES = { Deposited: 'DEPOSITED', Settled: 'SETTLED', Refunded: 'REFUNDED' } as const

/**
 * The orders that follow from the chain, newest first by their first event: states and steps from its logs, all else from
 * the contract.
 * @param toBlock the last block whose events count, included; the head by default. What the clock decides follows the head's time.
 */
export async function expectedOrders(
  chain: Pick<TestChain, 'devnet' | 'chainId' | 'contracts'>,
): Promise<OrderMessage[]> {
  const { view, client } = createCalls(chain.devnet, chain.contracts.settlement)
  const events = new Map<string, EventMessage[]>()
  for (const event of await expectedMessages(chain))
    events.set(event.orderId, [...(events.get(event.orderId) ?? []), event])
  const { timestamp } = await client.getBlock()
  const orders = [...events.values()].map((own) => orderOf(view, own, Number(timestamp)))
  return (await Promise.all(orders)).reverse()
}

/**
 * @param events those of one order, in the order of the chain
 * @param time of the chain's head, in seconds
 */
async function orderOf(
  view: ReturnType<typeof createCalls>['view'],
  events: readonly EventMessage[],
  time: number,
): Promise<OrderMessage> {
  const [first, last] = [events[0], events.at(-1)]
  if (first === undefined || last === undefined) throw new Error('an order has an event')
  const { orderId, chainId } = first
  const [user, solver, inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline] =
    await view.orders([orderId as `0x${string}`])
  const state = STATES[last.type]
  return {
    orderId,
    chainId,
    state,
    user,
    solver,
    inputToken,
    inputAmount: String(inputAmount),
    outputToken,
    outputAmount: String(outputAmount),
    outputChainId: Number(outputChainId),
    fillDeadline,
    isTerminal: state !== 'DEPOSITED',
    isRefundable: state === 'DEPOSITED' && time > fillDeadline,
    ...Object.fromEntries(events.map((event) => [STEPS[event.type], stepOf(event)])),
  }
}

/** The step of an event. */
export function stepOf({ blockNumber, blockTime, transactionHash }: EventMessage): StepMessage {
  return { blockNumber, blockTime, transactionHash }
}
