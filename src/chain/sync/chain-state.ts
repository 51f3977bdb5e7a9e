import type { TimedHeader } from '../../../packages/protocol/src/block-header.js'
import type { BlockHeader } from '../../domain/orders/block.js'
import type { UnreadBlock } from './poll-results.js'

/** The state of a chain at one moment. */
export interface ChainSnapshot {
  /** `syncing` while blocks far below the head are read, before START_BLOCK, and while no leader publishes its position. */
  readonly status: 'ok' | 'syncing' | 'down'
  /** The highest block seen. */
  readonly head: TimedHeader | undefined
  /** The last block whose events have been read, published or not. */
  readonly last: Pick<BlockHeader, 'number' | 'hash'> | undefined
  /** Number of the last block whose events are published. */
  readonly published: number | undefined
  /** Whether the last poll may be as old as IDLE_POLL_MS, because nobody has needed the newest state. */
  readonly isIdle: boolean
  /** The block after the last one, when it could not be read for a minute. */
  readonly unread?: UnreadBlock | undefined
}

/** State of a chain: read by this replica, or received from the leader. */
export interface ChainState {
  snapshot(): ChainSnapshot
  /** Polls in the background when the last poll was one without demand. Other replicas wait for the leader to do so. */
  wake(): void
  /**
   * Polls the node once more.
   * @returns whether the state has everything that the node has
   * @throws when the node does not answer
   */
  poll(): Promise<boolean>
}

/** Whether a snapshot has all events up to its head. A chain that is down may have events that are not known yet. */
export function isCurrent({ status, head, last, isIdle }: ChainSnapshot): boolean {
  return status === 'ok' && !isIdle && (last?.number ?? -1) >= (head?.number ?? 0)
}
