import { setTimeout as delay } from 'node:timers/promises'
import type { PublicClient } from 'viem'
import type { EventWithPosition } from '../domain/block.js'
import type { Address, Hex } from '../domain/hex.js'
import type { KnownOrder } from '../domain/order.js'
import { isRpcResponseError } from './rpc-error.js'
import { createSettlement, NotASettlementError } from './settlement.js'

/**
 * Reads the orders of events from the contract, where the events do not say enough. The contract emits no `Deposited` for
 * an address deposit, so the log has no terms of such an order. And `Refunded` does not have the solver.
 *
 * An event stays as it is when all endpoints reject the read. Then the terms are read later (see log-completion.ts).
 * @param stateBlock number of the block as of which orders are read
 * @throws viem's errors when the node does not answer; EventSinkError
 */
export type AttachOrders = (
  events: readonly EventWithPosition[],
  stateBlock: number,
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
  /** Waits for this number of milliseconds. */
  readonly pause?: ((ms: number) => Promise<unknown>) | undefined
}

/** Time that a node gets to reach the state before the last read. */
const LAST_PAUSE_MS = 250

/** Builds the function for an endpoint. */
export function createAttachOrders(options: AttachOrdersOptions): AttachOrders {
  const { clients, chainId, address, ordersWithUnknownTerms, pause = delay } = options
  const [own, ...others] = clients.map((client) => createSettlement(client, chainId, address))

  /** @returns undefined when each endpoint rejects the read or does not know the order */
  async function readOrder(orderId: Hex, stateBlock: number): Promise<KnownOrder | undefined> {
    const sources = [own, ...others, own]
    for (const [index, settlement] of sources.entries()) {
      if (index === sources.length - 1) await pause(LAST_PAUSE_MS)
      try {
        const order = await settlement?.readOrder(orderId, { blockNumber: BigInt(stateBlock) })
        if (order !== undefined && order.state !== 'NONE') return order
      } catch (error) {
        const isRejected = isRpcResponseError(error) || error instanceof NotASettlementError
        if (!isRejected && settlement === own) throw error
      }
    }
    return undefined
  }

  return async (events, stateBlock, { replacesEvents = false } = {}) => {
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
      const order = await readOrder(event.orderId, stateBlock)
      return order === undefined ? source : { ...source, event: { ...event, solver: order.solver }, order }
    }
    return Promise.all(events.map(attach))
  }
}
