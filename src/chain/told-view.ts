import type { PublicClient } from 'viem'
import type { Hex } from '../domain/hex.js'
import type { ChainEye, ChainView } from './chain-view.js'

/** Sees a chain through another replica's eyes. */
export interface ToldView extends ChainEye {
  /** Takes what the reader tells. */
  hear(view: ChainView): void
  /** Something has happened behind the last block that was told: until the next view, nobody knows up to where. */
  outdate(): void
  /** What was heard is old. */
  forget(): void
}

/** Readers tell every second: one that is silent for longer is gone, and another takes over. */
const SILENCE_MS = 4000

const NOTHING_HEARD: ChainView = { status: 'syncing', head: undefined, last: undefined, announced: undefined }

/** Builds the view over the client that asks the node for its head. */
export function createToldView(client: PublicClient): ToldView {
  let heard = NOTHING_HEARD
  let heardAt = Number.NEGATIVE_INFINITY

  function view(): ChainView {
    const isSilent = performance.now() - heardAt > SILENCE_MS
    return isSilent && heard.status === 'ok' ? { ...heard, status: 'syncing' } : heard
  }

  return {
    view,
    async look() {
      const head = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
      const hash: Hex | null | undefined = head?.hash
      const { status, last } = view()
      return status === 'ok' && last?.hash === hash
    },
    hear(told) {
      heard = told
      heardAt = performance.now()
    },
    outdate() {
      heard = { ...heard, last: undefined }
    },
    forget() {
      heardAt = Number.NEGATIVE_INFINITY
    },
  }
}
