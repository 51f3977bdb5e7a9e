import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createSerialQueue, type SerialQueue } from '../concurrency/serial-queue.js'
import type { Address } from '../domain/hex.js'
import { hourOf } from '../domain/order-hours.js'
import type { SolverKey } from '../domain/solver.js'
import {
  addOrderCounts,
  addQuoteCounts,
  noSolverCounts,
  type SolverCounts,
} from '../domain/solver-statistics.js'
import type { SolverHourStore } from '../store/solver-hour-store.js'
import type { SolverOrderStore } from '../store/solver-order-store.js'

/**
 * Reads what solvers did, of all replicas (docs/decisions.md, D20). Equal reads share one result for some time. Other reads run
 * one after the other.
 */
export interface StatisticsReader {
  /**
   * The counts of each solver that has some.
   * @param windowHours whole hours before the current one
   */
  bySolver(chainId: number, windowHours: number): Promise<ReadonlyMap<Address, SolverCounts>>
  /** The counts of a solver by hour, Unix time in whole hours. The oldest is first, and hours without counts are left out. */
  byHour(solver: SolverKey, windowHours: number): Promise<ReadonlyMap<number, SolverCounts>>
}

interface StatisticsReaderOptions {
  readonly hours: Pick<SolverHourStore, 'readHours'>
  readonly orders: Pick<SolverOrderStore, 'readHours'>
  /** Milliseconds that never go back, for the age of results. */
  readonly clock: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** Hours of one statement. Two hours of 50 solvers at three replicas have 300 rows, which take some milliseconds. */
const HOURS_PER_READ = 2
/** The same for one solver. */
const HOURS_PER_READ_OF_ONE = 72
/** How long a result is used again, at least. */
const KEEP_MS = 2000
/** How much longer than its read a result is used again. So callers who repeat a long read take 2% of the event loop. */
const KEPT_PER_READ = 50
const MAX_KEPT = 200

interface Window {
  readonly chainId: number
  readonly since: number
  readonly until: number
  readonly solver?: Address
}

interface CountedHour {
  readonly solver: Address
  readonly hour: number
}

/** Builds the reader. It reads some hours at a time, so that a long window does not hold the event loop. */
export function createStatisticsReader(options: StatisticsReaderOptions): StatisticsReader {
  const { hours, orders, clock, now } = options
  // Of all reads: each takes a piece of every turn of the event loop.
  const queue = createSerialQueue()
  const shared = { clock, run: queue.run }
  const bySolver = shareReads<Address>(shared)
  const byHour = shareReads<number>(shared)

  /** @param keyOf what counts are summed up by */
  async function read<K>(window: Window, keyOf: (hour: CountedHour) => K): Promise<Map<K, SolverCounts>> {
    const { chainId, since, until, solver } = window
    const sums = new Map<K, SolverCounts>()
    const sumOf = (hour: CountedHour) => {
      const key = keyOf(hour)
      const sum = sums.get(key) ?? noSolverCounts()
      sums.set(key, sum)
      return sum
    }
    const step = solver === undefined ? HOURS_PER_READ : HOURS_PER_READ_OF_ONE
    for (let first = since; first < until; first += step) {
      const end = Math.min(first + step, until)
      for (const hour of await hours.readHours(chainId, first, end, solver))
        addQuoteCounts(sumOf(hour), hour.counts)
      await nextTurn()
      for (const hour of await orders.readHours(chainId, first, solver, end)) {
        if (hour.deposited + hour.settled + hour.refunded > 0) addOrderCounts(sumOf(hour), hour)
      }
      await nextTurn()
    }
    return sums
  }

  /** The current hour is the last one. */
  function windowOf(chainId: number, windowHours: number, solver?: Address): Window {
    const current = hourOf(now() / 1000)
    return { chainId, since: current - windowHours, until: current + 1, ...(solver && { solver }) }
  }

  return {
    bySolver(chainId, windowHours) {
      const window = windowOf(chainId, windowHours)
      return bySolver(window, () => read(window, ({ solver }) => solver))
    },
    byHour({ chainId, address }, windowHours) {
      const window = windowOf(chainId, windowHours, address)
      return byHour(window, async () => {
        const sums = await read(window, ({ hour }) => hour)
        return new Map([...sums].sort(([one], [other]) => one - other))
      })
    },
  }
}

interface SharedReads {
  /** Milliseconds that never go back. */
  readonly clock: () => number
  /** Runs a read when it is its turn. */
  readonly run: SerialQueue['run']
}

/** Builds a function that shares the results of equal reads. Failures are shared only while they are under way. */
function shareReads<K>({ clock, run }: SharedReads) {
  type Result = Promise<ReadonlyMap<K, SolverCounts>>
  const kept = new LRUCache<string, { readonly result: Result; until: number }>({ max: MAX_KEPT })

  return ({ chainId, since, until, solver }: Window, read: () => Result): Result => {
    const key = [chainId, since, until, solver].join(' ')
    const known = kept.get(key)
    if (known !== undefined && clock() < known.until) return known.result
    const result = run(async () => {
      const start = clock()
      const counts = await read()
      entry.until = clock() + Math.max(KEEP_MS, KEPT_PER_READ * (clock() - start))
      return counts
    })
    const entry = { result, until: Number.POSITIVE_INFINITY }
    kept.set(key, entry)
    result.catch(() => {
      if (kept.get(key) === entry) kept.delete(key)
    })
    return result
  }
}
