import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { reasonOf } from '../../../packages/protocol/src/errors.js'
import { keyOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import {
  addResponseTime,
  type CountedResult,
  hourOf,
  KEPT_HOURS,
  noQuoteCounts,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import { createRetry } from '../../concurrency/retry.js'
import { withTimeout } from '../../concurrency/time-limits.js'
import type { SolverOrderStore } from '../../store/orders/solver-order-store.js'
import type { SolverHourStore, WrittenHour } from '../../store/solvers/solver-hour-store.js'
import type { Logger } from '../../telemetry/log.js'

/** Counts what solvers do by hour, and stores it (docs/decisions.md, D20). */
export type SolverStatistics = ReturnType<typeof createSolverStatistics>

/** An hour of a solver in memory. */
interface CountedHour extends WrittenHour {
  /** Whether it has counts that are not stored. */
  isChanged: boolean
}

/** Hours of solvers in memory, of 1 KB each: with 50 solvers, those of a week without the database. */
const MAX_HOURS = 10_000
/** Rare enough that the wait for the disk is not in the p99 of quotes. */
const WRITE_INTERVAL_MS = 5000
const RETRY_MS = 5000
/** The end of the service waits this long for a database that does not answer. */
const CLOSE_TIMEOUT_MS = 3000

/** Builds the counts. A quote only adds to numbers in memory. */
export function createSolverStatistics(store: SolverHourStore, clock: Clock, log: Logger) {
  /** Hours that were lost while the database was away. */
  let lost = 0
  /** Stored ones stay until others need their place: a clock that is set back counts on in them. */
  const hours = new LRUCache<string, CountedHour>({
    max: MAX_HOURS,
    dispose({ isChanged }) {
      if (isChanged) lost++
    },
  })
  const currentHour = () => hourOf(clock.now() / 1000)

  function hourOfSolver(solver: SolverKey): CountedHour {
    const hour = currentHour()
    const key = `${keyOf(solver)} ${hour}`
    const { chainId, address } = solver
    const counted = hours.get(key) ?? {
      chainId,
      address,
      hour,
      writer: randomUUID(),
      counts: noQuoteCounts(),
      isChanged: false,
    }
    hours.set(key, counted)
    return counted
  }

  async function write(): Promise<void> {
    const changed = [...hours.values()].filter(({ isChanged }) => isChanged)
    for (const counted of changed) counted.isChanged = false
    try {
      if (changed.length > 0) await store.save(changed)
    } catch (error) {
      for (const counted of changed) counted.isChanged = true
      throw error
    }
  }

  const writes = createRetry({
    work: write,
    delayMs: RETRY_MS,
    onFailure: (error) =>
      log.warn({ reason: reasonOf(error) }, 'counts of solvers could not be stored: they wait in memory'),
    onRecovery() {
      log.info({ lost }, 'counts of solvers are stored again')
      lost = 0
    },
    clock,
  })
  const timer = clock.setInterval(writes.run, WRITE_INTERVAL_MS)

  return {
    /**
     * Counts the result of a request for a quote.
     * @param responseMs the time of a response; undefined without a response
     */
    count(solver: SolverKey, result: CountedResult | 'cancelled', responseMs: number | undefined): void {
      if (result === 'cancelled') return
      const counted = hourOfSolver(solver)
      counted.counts[result]++
      if (responseMs !== undefined) addResponseTime(counted.counts.responseTimes, responseMs)
      counted.isChanged = true
    },
    /** Counts a quote whose best offer was the solver's. @param isAlone no other solver made a valid one */
    countWin(solver: SolverKey, isAlone: boolean): void {
      const counted = hourOfSolver(solver)
      counted.counts[isAlone ? 'won_alone' : 'won']++
      counted.isChanged = true
    },
    /** Stores what is not stored yet. */
    async close(): Promise<void> {
      timer.stop()
      const end = async () => {
        await writes.close()
        await write()
      }
      await withTimeout(end(), CLOSE_TIMEOUT_MS, clock).catch((error) =>
        log.error({ reason: reasonOf(error) }, 'the last counts of solvers could not be stored'),
      )
    },
  }
}

/**
 * Removes some of the counts that are older than 31 days.
 * @param timeMs the time by which they are (see chains.ts): Unix time in milliseconds
 * @returns whether there may be more
 */
export async function pruneSomeCounts(
  quotes: SolverHourStore,
  orders: SolverOrderStore,
  timeMs: number,
): Promise<boolean> {
  const firstKept = hourOf(timeMs / 1000) - KEPT_HOURS
  const isMore = [await quotes.removeOldest(firstKept), await orders.pruneSomeHours(firstKept)]
  return isMore.includes(true)
}
