import type { Chain } from '../../chain/chain.js'
import type { OfferNonceStore } from '../../store/solvers/offer-nonce-store.js'
import type { Metrics } from '../../telemetry/metrics.js'

/** A head that was seen. */
interface SeenHead {
  readonly number: number
  readonly timeMs: number
}

/**
 * Builds what removes nonces of offers (docs/decisions.md, D25): some unused ones of offers that have ended, and then what
 * is beyond the bound of the table.
 *
 * An offer has ended when no block up to its fill deadline can be replaced any more. Its chain tells the time: a head that
 * it had, once its events are read to a block that is `depth` above.
 * @param depth the deepest reorganisation that is followed, in blocks
 * @returns a function that returns whether there may be more to remove
 */
export function createNonceRetention(
  store: OfferNonceStore,
  chains: Iterable<Chain>,
  depth: number,
  metrics: Metrics,
): () => Promise<boolean> {
  const states = [...chains].map((chain) => ({
    chain,
    seen: headOf(chain),
    finalMs: undefined as number | undefined,
  }))

  async function removeEnded(): Promise<boolean> {
    let isMore = false
    for (const state of states) {
      const { eventBlock } = state.chain.status()
      state.seen ??= headOf(state.chain)
      if (eventBlock === undefined || state.seen === undefined) continue
      if (eventBlock >= state.seen.number + depth) {
        state.finalMs = state.seen.timeMs
        state.seen = headOf(state.chain)
      }
      if (state.finalMs === undefined) continue
      if (await store.pruneSome(state.chain.chainId, Math.floor(state.finalMs / 1000))) isMore = true
    }
    return isMore
  }

  return async () => {
    if (await removeEnded()) return true
    const { bytes, dropped } = await store.trim()
    metrics.tableBytes.set({ table: 'offer_nonces' }, bytes)
    metrics.offerNonces.inc({ result: 'dropped' }, dropped)
    return false
  }
}

function headOf({ status, headTimeMs }: Chain): SeenHead | undefined {
  const number = status().headBlock
  const timeMs = headTimeMs()
  return number === undefined || timeMs === undefined ? undefined : { number, timeMs }
}
