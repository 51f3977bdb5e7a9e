import type { PublicClient } from 'viem'
import type { ClusterBus } from '../../domain/cluster.js'
import type { Hex } from '../../domain/values/hex.js'
import type { OrderCache } from '../contract/order-cache.js'
import type { ChainSnapshot, ChainState } from './chain-state.js'
import { listenToChainState } from './chain-state-messages.js'

/** State of a chain on a follower replica, as the leader publishes it. */
export interface RemoteChainState extends ChainState {
  /** Continues with the last snapshot of this replica's own chain sync. It is old until the next leader publishes one. */
  continueFrom(snapshot: ChainSnapshot): void
}

interface RemoteChainStateOptions {
  readonly chainId: number
  /** Asks the node for its head. */
  readonly client: Pick<PublicClient, 'request'>
  readonly cluster: Pick<ClusterBus, 'listen'>
  /** Loses the orders that the leader reports as changed. */
  readonly orders: Pick<OrderCache, 'invalidate' | 'clear'>
  /** Called with each snapshot of the leader. */
  readonly onSnapshot: () => void
  /** Called when another replica needs the newest state. */
  readonly onDemand: () => void
}

/**
 * Leaders publish every second. A snapshot older than this shows the chain as `syncing`. It causes no takeover: the server
 * ends the connection of a silent leader (src/cluster/dedicated-connection.ts).
 */
const STALE_MS = 4000

const NOTHING_RECEIVED: ChainSnapshot = {
  status: 'syncing',
  head: undefined,
  last: undefined,
  published: undefined,
  isIdle: false,
}

/** Builds the state, and follows the messages of the leader. */
export function createRemoteChainState(options: RemoteChainStateOptions): RemoteChainState {
  const { chainId, client, cluster, orders } = options
  let received = NOTHING_RECEIVED
  let receivedAt = Number.NEGATIVE_INFINITY

  function snapshot(): ChainSnapshot {
    const isSilent = performance.now() - receivedAt > STALE_MS
    return isSilent && received.status === 'ok' ? { ...received, status: 'syncing' } : received
  }

  listenToChainState(chainId, cluster, {
    onSnapshot(snapshot) {
      received = snapshot
      receivedAt = performance.now()
      options.onSnapshot()
    },
    onDemand: options.onDemand,
    onOrdersInvalidated(orderIds) {
      // A later block is being read. The next snapshot has it.
      received = { ...received, last: undefined }
      if (orderIds === undefined) orders.clear()
      else for (const orderId of orderIds) orders.invalidate(orderId)
    },
    onMissed() {
      receivedAt = Number.NEGATIVE_INFINITY
      orders.clear()
    },
  })

  return {
    snapshot,
    wake() {},
    async poll() {
      const head = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
      const hash: Hex | null | undefined = head?.hash
      const { status, last } = snapshot()
      return status === 'ok' && last?.hash === hash
    },
    continueFrom(snapshot) {
      received = snapshot
      receivedAt = Number.NEGATIVE_INFINITY
    },
  }
}
