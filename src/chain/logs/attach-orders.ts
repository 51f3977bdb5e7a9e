import type { PublicClient } from 'viem'
import type { ContractPlace } from '../../../packages/chain/src/contract/verify-contract.js'
import { isNodeAnswer } from '../../../packages/protocol/src/node/node-answer.js'
import { readView } from '../../../packages/protocol/src/node/read-view.js'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { OrderEvent } from '../../../packages/protocol/src/orders/event.js'
import { isAnswerFor } from '../../../packages/protocol/src/orders/listed-order.js'
import type { KnownOrder } from '../../../packages/protocol/src/orders/order.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { EventSink } from '../event-sink.js'

/**
 * Reads the orders of events from the contract, where the events do not say enough. The contract emits no `Deposited` for an
 * address deposit, which is settled first. So the log has no terms of such an order. And `Refunded` does not have the
 * solver.
 *
 * An event stays as it is when the contract cannot be read or does not know the order yet. Then the terms are read later
 * (see terms-retry.ts).
 * @param replacesEvents whether published events are removed before these are added. A reorganisation deletes the row of an
 * order without steps, with its terms. So the table of orders is not asked.
 * @throws ChainReadError when the endpoint does not answer; EventSinkError. At the second time in a row that it does not
 * answer for an order, the chain's events do not wait any longer for the orders.
 */
type AttachOrders = (
  events: readonly EventWithPosition[],
  replacesEvents?: boolean,
) => Promise<EventWithPosition[]>

/** Orders that are read at once. A range of old blocks can have thousands. */
const MAX_READS = 50

/** Builds the function for an endpoint. @param clients the endpoint's client first, then those of other endpoints */
export function createAttachOrders(
  clients: readonly [PublicClient, ...PublicClient[]],
  { chainId, settlement }: ContractPlace,
  knownSolvers: EventSink['knownSolvers'],
): AttachOrders {
  /** The orders of attempts that failed because the endpoint did not answer. */
  const unanswered = new Set<Hex>()

  /**
   * Reads the orders of events. It reads no more orders once an endpoint does not answer, so that events wait for one call.
   * @returns those of which an endpoint has the order of the event
   * @throws ChainReadError when the endpoint does not answer for an order for the first time
   */
  async function readOrders(events: readonly OrderEvent[]): Promise<ReadonlyMap<Hex, KnownOrder>> {
    const orders = new Map<Hex, KnownOrder>()
    let isSilent = false

    async function read(event: OrderEvent): Promise<void> {
      for (const client of clients) {
        try {
          // Of any block: what is read here never changes, and the latest state is what every node has.
          const order = await readView(
            client.request,
            settlement,
            settlementOf(chainId).order(chainId, event.orderId),
          )
          if (order.state !== 'NONE' && !isAnswerFor(event, order)) continue
          if (order.state !== 'NONE') orders.set(event.orderId, order)
          return
        } catch (error) {
          if (isNodeAnswer(error)) continue
          if (client === clients[0] && !unanswered.has(event.orderId)) throw error
          isSilent = true
          return
        }
      }
    }

    try {
      for (let start = 0; start < events.length && !isSilent; start += MAX_READS)
        await Promise.all(events.slice(start, start + MAX_READS).map(read))
    } catch (error) {
      for (const { orderId } of events) unanswered.add(orderId)
      throw error
    }
    for (const { orderId } of events) unanswered.delete(orderId)
    return orders
  }

  return async (sources, replacesEvents = false) => {
    const events = sources.map(({ event }) => event)
    const deposits = new Map(
      events.flatMap((event) => (event.type === 'Deposited' ? [[event.orderId, event.solver] as const] : [])),
    )
    const undeposited = events.filter(({ orderId }) => !deposits.has(orderId))
    const known = replacesEvents ? NO_ORDERS : await knownSolvers(undeposited.map(({ orderId }) => orderId))
    const orders = await readOrders(undeposited.filter(({ orderId }) => !known.has(orderId)))
    return sources.map((source) => {
      const { event } = source
      const order = orders.get(event.orderId)
      const solver = deposits.get(event.orderId) ?? order?.solver ?? event.solver ?? known.get(event.orderId)
      return { ...source, event: { ...event, solver } as OrderEvent, ...(order && { order }) }
    })
  }
}

const NO_ORDERS: ReadonlyMap<Hex, Address> = new Map()
