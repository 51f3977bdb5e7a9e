import type { PublicClient } from 'viem'
import type { Hex } from '../domain/hex.js'
import type { ChainSnapshot, ChainState } from './chain-state.js'

/** State of a chain on a follower replica, as the leader publishes it. */
export interface RemoteChainState extends ChainState {
  /** Sets the published snapshot. */
  update(snapshot: ChainSnapshot): void
  /** Removes the last block of the snapshot, because a later block is being read. The next snapshot has one again. */
  invalidateLast(): void
  /** Marks the snapshot as old. */
  invalidate(): void
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
}

/** Builds the state. @param client asks the node for its head */
export function createRemoteChainState(client: PublicClient): RemoteChainState {
  let received = NOTHING_RECEIVED
  let receivedAt = Number.NEGATIVE_INFINITY

  function snapshot(): ChainSnapshot {
    const isSilent = performance.now() - receivedAt > STALE_MS
    return isSilent && received.status === 'ok' ? { ...received, status: 'syncing' } : received
  }

  return {
    snapshot,
    async poll() {
      const head = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
      const hash: Hex | null | undefined = head?.hash
      const { status, last } = snapshot()
      return status === 'ok' && last?.hash === hash
    },
    update(snapshot) {
      received = snapshot
      receivedAt = performance.now()
    },
    invalidateLast() {
      received = { ...received, last: undefined }
    },
    invalidate() {
      receivedAt = Number.NEGATIVE_INFINITY
    },
  }
}
