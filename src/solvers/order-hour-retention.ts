import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SolverOrderStore } from '../store/solver-order-store.js'
import type { Logger } from '../telemetry/log.js'

interface RetentionOptions {
  readonly store: Pick<SolverOrderStore, 'pruneSomeHours'>
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

const PRUNE_INTERVAL_MS = 3_600_000

/**
 * Removes hourly counts that are older than 31 days, now and each hour.
 * @returns a function that ends this, after a removal under way
 */
export function startOrderHourRetention({ store, now, log }: RetentionOptions): () => Promise<void> {
  let isClosed = false
  let pruning: Promise<void> | undefined

  async function prune(): Promise<void> {
    try {
      while (!isClosed && (await store.pruneSomeHours(now()))) await nextTurn()
    } catch (error) {
      log.error({ err: error }, 'old counts of orders could not be removed')
    }
    pruning = undefined
  }
  function pruneUnlessUnderWay(): void {
    pruning ??= prune()
  }

  pruneUnlessUnderWay()
  const timer = setInterval(pruneUnlessUnderWay, PRUNE_INTERVAL_MS)
  return async () => {
    isClosed = true
    clearInterval(timer)
    await pruning
  }
}
