import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../packages/protocol/src/clock.js'
import type { Logger } from '../telemetry/log.js'

interface RetentionOptions {
  /** Removes some old rows. @returns whether there may be more */
  readonly pruneSome: () => Promise<boolean>
  /** The rows, for the log. */
  readonly what: string
  /** An hour by default. */
  readonly intervalMs?: number
  readonly clock: Clock
  readonly log: Logger
}

const HOUR_MS = 3_600_000

/**
 * Removes old rows now and at an interval, some at a time, so that other calls run in between.
 * @returns a function that ends this, after a removal under way
 */
export function startRetention(options: RetentionOptions) {
  const { pruneSome, what, intervalMs = HOUR_MS, clock, log } = options
  let isClosed = false
  let pruning: Promise<void> | undefined

  async function prune(): Promise<void> {
    try {
      while (!isClosed && (await pruneSome())) await nextTurn()
    } catch (error) {
      log.error({ err: error, what }, 'old rows could not be removed')
    }
    pruning = undefined
  }
  function pruneUnlessUnderWay(): void {
    pruning ??= prune()
  }

  pruneUnlessUnderWay()
  const timer = clock.setInterval(pruneUnlessUnderWay, intervalMs)
  return async (): Promise<void> => {
    isClosed = true
    timer.stop()
    await pruning
  }
}
