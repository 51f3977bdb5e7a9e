import type { EventSink, TermsSink } from '../domain/orders/event-sink.js'
import type { EventStore } from '../store/events/event-store.js'
import type { FencingToken } from '../store/events/fencing-token.js'
import type { Publisher } from './publisher.js'

/** Builds the sink of a chain's events. It writes them into the store, with its own fencing token, and publishes them. */
export function createEventSink(
  chainId: number,
  store: EventStore,
  { write }: Pick<Publisher, 'write'>,
): EventSink & TermsSink {
  /** `open` replaces it. The store has never issued this one, so no write succeeds before. */
  let token: FencingToken = { chainId, epoch: 0 }

  return {
    async open() {
      const { position, ...issued } = await store.takeOver(chainId)
      token = issued
      return position
    },
    begin: (settlement, header) => store.begin(token, settlement, header),
    async append(blocks) {
      await write(() => store.append(token, blocks))
    },
    async appendMissing(events) {
      const added = await write(() => store.appendMissing(token, events))
      return added.length
    },
    async revert(ancestor) {
      await write(() => store.revert(token, ancestor))
    },
    eventBlocks: (below, limit) => store.eventBlocks(chainId, below, limit),
    knownSolvers: (orderIds) => store.knownSolvers(chainId, orderIds),
    ordersWithoutTerms: (after, limit) => store.ordersWithoutTerms(chainId, after, limit),
    completeOrders: (orders) => store.completeOrders(token, orders),
  }
}
