import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockRef } from '../../../packages/protocol/src/orders/block.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ChainContext } from '../context.js'

/** The next block of a chain, when it could not be read for a minute (docs/decisions.md, D22). */
export interface UnreadBlock {
  readonly block: number
  /** The member of the node's answer that cannot be read; undefined when the node gives no answer. */
  readonly member: string | undefined
  /** The host of the endpoint that has failed last. */
  readonly endpoint: string
  /** The node's words, without path, query and credentials of its URL. */
  readonly reason: string
}

/** The state of a chain at one moment. */
export interface ChainSnapshot {
  /** `syncing` while blocks far below the head are read, before START_BLOCK, and while no leader publishes its position. */
  readonly status: 'ok' | 'syncing' | 'down'
  /** The highest block seen. */
  readonly head: TimedHeader | undefined
  /** The last block whose events have been read, published or not. */
  readonly last: BlockRef | undefined
  /** Number of the last block whose events are published. */
  readonly published: number | undefined
  /** The block after the last one, when it could not be read for a minute. */
  readonly unread?: UnreadBlock | undefined
}

/** State of a chain: read by this replica, or received from the leader. */
export interface ChainState {
  /** The newest snapshot. It is replaced at each change, so that a read costs nothing. */
  readonly snapshot: ChainSnapshot
  /**
   * Polls the node once more.
   * @returns whether the state has everything that the node has
   * @throws when the node does not answer
   */
  poll(): Promise<boolean>
}

/** Whether a snapshot has all events up to its head. A chain that is down may have events that are not known yet. */
export function isCurrent({ status, head, last }: ChainSnapshot): boolean {
  return status === 'ok' && (last?.number ?? -1) >= (head?.number ?? 0)
}

/** Publishes a chain's state from the leader to the follower replicas. */
export type ChainStatePublisher = ReturnType<typeof createChainStatePublisher>

type Message =
  | { readonly chainId: number; readonly snapshot: ChainSnapshot }
  | { readonly chainId: number; readonly invalidated: readonly Hex[] | 'all' }

/** Number of order ids that fit into a notification of PostgreSQL, which is shorter than 8,000 bytes. */
const MAX_ORDERS = 100

/** Builds the publisher of the leader. @param onSnapshot called with each snapshot, as for those that a follower receives */
export function createChainStatePublisher(
  { config, cluster }: ChainContext,
  onSnapshot: (snapshot: ChainSnapshot) => void,
) {
  const { chainId } = config
  const publish = (message: Message) => cluster.publish('chains', JSON.stringify(message))
  const fewOrAll = (orderIds: readonly Hex[]) => (orderIds.length <= MAX_ORDERS ? orderIds : 'all')
  return {
    /** The leader's snapshot. It is valid until the next one, and for a few seconds at most. */
    publishSnapshot(snapshot: ChainSnapshot): void {
      onSnapshot(snapshot)
      publish({ chainId, snapshot })
    },
    /** Orders whose state may have changed since the last snapshot; all orders when undefined. */
    invalidateOrders: (orderIds?: readonly Hex[]): void =>
      publish({ chainId, invalidated: orderIds === undefined ? 'all' : fewOrAll(orderIds) }),
  }
}

/** State of a chain on a follower replica, as the leader publishes it. */
export type RemoteChainState = ReturnType<typeof createRemoteChainState>

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
}

/** Builds the state, and follows the messages of the leader. @param onSnapshot called with each snapshot of the leader */
export function createRemoteChainState(
  { config, rpc, cluster, orders, clock }: ChainContext,
  onSnapshot: (snapshot: ChainSnapshot) => void,
) {
  const { chainId } = config
  let received = NOTHING_RECEIVED
  let receivedAt = Number.NEGATIVE_INFINITY

  function receive(snapshot: ChainSnapshot): void {
    received = snapshot
    receivedAt = clock.monotonic()
    onSnapshot(snapshot)
  }

  function invalidate(orderIds: readonly Hex[] | 'all'): void {
    // A later block is being read. The next snapshot has it.
    received = { ...received, last: undefined }
    if (orderIds === 'all') orders.clear()
    else for (const orderId of orderIds) orders.invalidate(orderId)
  }

  cluster.listen('chains', {
    onMessage(text) {
      const message: Message = JSON.parse(text)
      if (message.chainId !== chainId) return
      if ('snapshot' in message) receive(message.snapshot)
      else invalidate(message.invalidated)
    },
    onMissed() {
      receivedAt = Number.NEGATIVE_INFINITY
      orders.clear()
    },
  })

  const state = {
    get snapshot(): ChainSnapshot {
      const isSilent = clock.monotonic() - receivedAt > STALE_MS
      return isSilent && received.status === 'ok' ? { ...received, status: 'syncing' } : received
    },
    async poll(): Promise<boolean> {
      const head = await rpc.client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
      const hash: Hex | null | undefined = head?.hash
      const { status, last } = state.snapshot
      return status === 'ok' && last?.hash === hash
    },
    /** Continues with the last snapshot of this replica's own chain sync. It is old until the next leader publishes one. */
    continueFrom(snapshot: ChainSnapshot): void {
      received = snapshot
      receivedAt = Number.NEGATIVE_INFINITY
    },
  }
  return state
}
