import type { ClusterBus } from '../domain/cluster.js'
import type { Hex } from '../domain/hex.js'
import type { ChainSnapshot } from './chain-state.js'

/** What the reader of a chain tells the other replicas. */
export interface ChainStatePublisher {
  /** The reader's view, which holds until the next one, and for a few seconds at most. */
  publishSnapshot(snapshot: ChainSnapshot): void
  /** Orders whose state may have changed, before the view of that block; all of them when undefined. */
  invalidateOrders(orderIds?: readonly Hex[]): void
}

/** Hears what the reader tells. */
export interface ChainStateListener {
  onSnapshot(snapshot: ChainSnapshot): void
  onOrdersInvalidated(orderIds: readonly Hex[] | undefined): void
  /** Some news may not have come. */
  onMissed(): void
}

type Message =
  | { readonly chainId: number; readonly snapshot: ChainSnapshot }
  | { readonly chainId: number; readonly invalidated: readonly Hex[] | 'all' }

/** As many order ids as a message of PostgreSQL holds, which is shorter than 8,000 bytes. */
const MAX_ORDERS = 100

/** Builds what a replica tells of a chain as its reader. */
export function createChainStatePublisher(
  chainId: number,
  cluster: Pick<ClusterBus, 'publish'>,
): ChainStatePublisher {
  const publish = (message: Message) => cluster.publish('chains', JSON.stringify(message))
  return {
    publishSnapshot: (snapshot) => publish({ chainId, snapshot }),
    invalidateOrders(orderIds) {
      const isFew = orderIds !== undefined && orderIds.length <= MAX_ORDERS
      publish({ chainId, invalidated: isFew ? orderIds : 'all' })
    },
  }
}

/** Listens to what is told of a chain. */
export function listenToChainState(
  chainId: number,
  cluster: Pick<ClusterBus, 'listen'>,
  listener: ChainStateListener,
): void {
  cluster.listen('chains', {
    onMessage(text) {
      const message: Message = JSON.parse(text)
      if (message.chainId !== chainId) return
      if ('snapshot' in message) listener.onSnapshot(message.snapshot)
      else listener.onOrdersInvalidated(message.invalidated === 'all' ? undefined : message.invalidated)
    },
    onMissed: listener.onMissed,
  })
}
