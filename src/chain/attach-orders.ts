import type { PublicClient } from 'viem'
import type { EventWithPosition } from '../domain/block.js'
import type { OrderEvent } from '../domain/event.js'
import type { Address, Hex } from '../domain/hex.js'
import { isAnswerFor } from '../domain/listed-order.js'
import type { KnownOrder } from '../domain/order.js'
import { isRpcResponseError } from './rpc-error.js'
import { createSettlement, NotASettlementError } from './settlement.js'

/**
 * Reads the orders of events from the contract, where the events do not say enough. The contract emits no `Deposited` for
 * an address deposit, so the log has no terms of such an order. And `Refunded` does not have the solver.
 *
 * An event stays as it is when the contract cannot be read or does not know the order yet. Then the terms are read later
 * (see log-completion.ts).
 * @throws viem's errors when the node does not answer; EventSinkError. A node that does not answer for the same order twice
 *   in a row counts as one that rejects the read, so that the chain's events do not wait for it.
 */
export type AttachOrders = (
  events: readonly EventWithPosition[],
  options?: AttachOptions,
) => Promise<EventWithPosition[]>

export interface AttachOptions {
  /**
   * Whether published events are removed before these are added. Orders leave the log with their last event. So what the log
   * has of an order does not count.
   */
  readonly replacesEvents?: boolean
}

export interface AttachOrdersOptions {
  /** The endpoint's client first, then those of other endpoints. */
  readonly clients: readonly [PublicClient, ...PublicClient[]]
  readonly chainId: number
  /** The contract, lower case. */
  readonly address: Address
  /** Those of some orders whose terms the log does not have. */
  readonly ordersWithUnknownTerms: (orderIds: readonly Hex[]) => Promise<ReadonlySet<Hex>>
}

/** Builds the function for an endpoint. */
export function createAttachOrders(options: AttachOrdersOptions): AttachOrders {
  const { clients, chainId, address, ordersWithUnknownTerms } = options
  const settlements = clients.map((client) => createSettlement(client, chainId, address))

  /** The orders for which the endpoint did not answer. */
  const unanswered = new Set<Hex>()

  /** @returns undefined when each endpoint rejects the read, or one of them does not know the order */
  async function readOrder(event: OrderEvent): Promise<KnownOrder | undefined> {
    const { orderId } = event
    for (const settlement of settlements) {
      try {
        // Of any block: what is read here never changes, and the latest state is what every node has.
        const order = await settlement.readOrder(orderId, {})
        if (order.state === 'NONE') return undefined
        if (isAnswerFor(event, order)) return order
      } catch (error) {
        const isRejected = isRpcResponseError(error) || error instanceof NotASettlementError
        const isFirst = settlement === settlements[0]
        if (!isRejected && isFirst && !unanswered.has(orderId)) {
          unanswered.add(orderId)
          throw error
        }
      }
    }
    return undefined
  }

  return async (events, { replacesEvents = false } = {}) => {
    const deposits = new Map(
      events.flatMap(({ event }) => (event.type === 'Deposited' ? [[event.orderId, event] as const] : [])),
    )
    const undeposited = events
      .map(({ event }) => event)
      .filter(({ type, orderId }) => type !== 'Deposited' && !deposits.has(orderId))
    const orderIds = undeposited.map(({ orderId }) => orderId)
    const unknown = replacesEvents ? new Set(orderIds) : await ordersWithUnknownTerms(orderIds)

    async function attach(source: EventWithPosition): Promise<EventWithPosition> {
      const { event } = source
      const deposit = deposits.get(event.orderId)
      if (deposit !== undefined) return { ...source, event: { ...event, solver: deposit.solver } }
      if (event.solver !== undefined && !unknown.has(event.orderId)) return source
      const order = await readOrder(event)
      return order === undefined ? source : { ...source, event: { ...event, solver: order.solver }, order }
    }
    const attached = await Promise.all(events.map(attach))
    unanswered.clear()
    return attached
  }
}
