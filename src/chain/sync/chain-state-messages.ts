import type { ClusterBus } from '../../domain/cluster.js'
import type { Hex } from '../../domain/values/hex.js'
import type { ChainSnapshot } from './chain-state.js'

/** Publishes a chain's state from the leader to the follower replicas. */
export interface ChainStatePublisher {
  /** The leader's snapshot. It is valid until the next one, and for a few seconds at most. */
  publishSnapshot(snapshot: ChainSnapshot): void
  /** Orders whose state may have changed since the last snapshot; all orders when undefined. */
  invalidateOrders(orderIds?: readonly Hex[]): void
  /** This replica needs the newest state. */
  publishDemand(): void
}

/** Receives the published state. */
export interface ChainStateListener {
  onSnapshot(snapshot: ChainSnapshot): void
  onOrdersInvalidated(orderIds: readonly Hex[] | undefined): void
  onDemand(): void
  /** Some messages may be lost. */
  onMissed(): void
}

type Message =
  | { readonly chainId: number; readonly snapshot: ChainSnapshot }
  | { readonly chainId: number; readonly invalidated: readonly Hex[] | 'all' }
  | { readonly chainId: number; readonly demand: true }

/** Number of order ids that fit into a notification of PostgreSQL, which is shorter than 8,000 bytes. */
const MAX_ORDERS = 100

/** Builds the publisher of the leader. */
export function createChainStatePublisher(
  chainId: number,
  cluster: Pick<ClusterBus, 'publish'>,
): ChainStatePublisher {
  const publish = (message: Message) => cluster.publish('chains', JSON.stringify(message))
  const fewOrAll = (orderIds: readonly Hex[]) => (orderIds.length <= MAX_ORDERS ? orderIds : 'all')
  return {
    publishSnapshot: (snapshot) => publish({ chainId, snapshot }),
    invalidateOrders: (orderIds) =>
      publish({ chainId, invalidated: orderIds === undefined ? 'all' : fewOrAll(orderIds) }),
    publishDemand: () => publish({ chainId, demand: true }),
  }
}

/** Passes the messages of one chain to a listener. */
export function listenToChainState(
  chainId: number,
  cluster: Pick<ClusterBus, 'listen'>,
  listener: ChainStateListener,
): void {
  cluster.listen('chains', {
    onMessage(text) {
      const message: Message = JSON.parse(text)
      if (message.chainId !== chainId) return
      if ('snapshot' in message) return listener.onSnapshot(message.snapshot)
      if ('demand' in message) return listener.onDemand()
      listener.onOrdersInvalidated(message.invalidated === 'all' ? undefined : message.invalidated)
    },
    onMissed: listener.onMissed,
  })
}
