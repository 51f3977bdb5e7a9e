import type {
  BlockHeader,
  BlockRef,
  ChainPosition,
  EventWithPosition,
  NewBlocks,
} from '../../packages/protocol/src/orders/block.js'
import type { LogEntry } from '../../packages/protocol/src/orders/event.js'
import type { KnownOrder, OrderPosition } from '../../packages/protocol/src/orders/order.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import type { FencingToken } from '../store/events/chain-positions.js'
import type { EventStore } from '../store/events/event-store.js'

/** The database could not be written or read; `cause` is its own error. */
export class EventSinkError extends Error {
  override readonly name = 'EventSinkError'
}

/**
 * Writes the events of one chain together with the chain's position. Each write is one transaction. After its commit, the
 * subscribers of all replicas receive its events.
 */
export type EventSink = ReturnType<typeof createEventSink>

/**
 * Builds a sink with a fencing token of its own. Its methods throw EventSinkError, also when another sink of the chain was opened.
 * @param publish writes entries into the log, and publishes them
 */
export function createEventSink(
  chainId: number,
  store: EventStore,
  publish: (write: () => Promise<LogEntry[]>) => Promise<LogEntry[]>,
) {
  /** `open` replaces it. The store has never issued this one, so no write succeeds before. */
  let token: FencingToken = { chainId, epoch: 0 }
  let isOpen = false

  function read<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((cause) => {
      throw new EventSinkError(String(cause), { cause })
    })
  }

  function write<T>(written: Promise<T>): Promise<T> {
    return read(written).catch((error) => {
      isOpen = false
      throw error
    })
  }

  const append = (entries: () => Promise<LogEntry[]>) => write(publish(entries))

  return {
    /** Makes this sink the only one that can write the chain's events. @returns the chain's position */
    async open(): Promise<ChainPosition | undefined> {
      const { position, ...issued } = await read(store.takeOver(chainId))
      token = issued
      isOpen = true
      return position
    },
    /** Whether the position is known: not after a write that failed, which may have reached the database nevertheless. */
    isOpen: (): boolean => isOpen,
    /** Starts the chain after a block. */
    begin: (settlement: Address, header: BlockHeader): Promise<void> =>
      write(store.begin(token, settlement, header)),
    async append(blocks: NewBlocks): Promise<void> {
      await append(() => store.append(token, blocks))
    },
    /** Adds the events of known blocks that the log lacks. @returns the number of events added */
    async appendMissing(events: readonly EventWithPosition[]): Promise<number> {
      const added = await append(() => store.appendMissing(token, events))
      return added.length
    },
    /** Removes all events after a block. */
    async revert(ancestor: BlockHeader): Promise<void> {
      await append(() => store.revert(token, ancestor))
    },
    /** The solvers of those of some orders whose terms are known, from a `Deposited` event or from the contract. */
    knownSolvers: (orderIds: readonly Hex[]): Promise<ReadonlyMap<Hex, Address>> =>
      read(store.knownSolvers(chainId, orderIds)),
    /** The last blocks with canonical events below a number: at most `limit`, the oldest first. */
    eventBlocks: (below: number, limit: number): Promise<BlockRef[]> =>
      read(store.eventBlocks(chainId, below, limit)),
    /** Orders whose terms could not be read with their events, the newest first. @param after only orders that are older */
    ordersWithoutTerms: (after: OrderPosition | undefined, limit: number): Promise<OrderPosition[]> =>
      read(store.ordersWithoutTerms(chainId, after, limit)),
    /** Sets the terms of orders. Skips answers that belong to other orders. @returns how many have got their terms */
    completeOrders: (orders: readonly KnownOrder[]): Promise<number> =>
      read(store.completeOrders(token, orders)),
  }
}
