import type { PublicClient } from 'viem'
import type { Hex } from '../domain/hex.js'
import type { ChainSnapshot, ChainState } from './chain-state.js'

/** Sees a chain through another replica's eyes. */
export interface RemoteChainState extends ChainState {
  /** Takes what the reader tells. */
  update(snapshot: ChainSnapshot): void
  /** Something has happened behind the last block that was told: until the next view, nobody knows up to where. */
  invalidateLast(): void
  /** What was heard is old. */
  invalidate(): void
}

/** Readers tell every second: one that is silent for longer is gone, and another takes over. */
const SILENCE_MS = 4000

const NOTHING_HEARD: ChainSnapshot = {
  status: 'syncing',
  head: undefined,
  last: undefined,
  published: undefined,
}

/** Builds the view over the client that asks the node for its head. */
export function createRemoteChainState(client: PublicClient): RemoteChainState {
  let received = NOTHING_HEARD
  let receivedAt = Number.NEGATIVE_INFINITY

  function snapshot(): ChainSnapshot {
    const isSilent = performance.now() - receivedAt > SILENCE_MS
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
