import type { BlockHeader } from '../domain/block.js'
import type { TimedHeader } from './headers.js'

/** What is known of a chain at a moment. */
export interface ChainSnapshot {
  /** `syncing` while events of blocks far below the head are read, before START_BLOCK, and while it is unknown how far they are read. */
  readonly status: 'ok' | 'syncing' | 'down'
  /** The highest block seen. */
  readonly head: TimedHeader | undefined
  /** The last block whose events have been read, announced or not. */
  readonly last: Pick<BlockHeader, 'number' | 'hash'> | undefined
  /** The last block whose events have been announced. */
  readonly published: number | undefined
}

/** Whoever sees a chain: it is read here, or told of by the replica that reads it. */
export interface ChainState {
  snapshot(): ChainSnapshot
  /**
   * Looks at the node once more.
   * @returns whether all is known that the node has; throws when the node does not answer
   */
  poll(): Promise<boolean>
}

/** Of a chain that is down, or whose last blocks have not been read yet, nobody can say that no event has come. */
export function isCurrent({ status, head, last }: ChainSnapshot): boolean {
  return status === 'ok' && (last?.number ?? -1) >= (head?.number ?? 0)
}
