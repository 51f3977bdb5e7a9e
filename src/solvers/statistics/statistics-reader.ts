import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import {
  addOrderCounts,
  addQuoteCounts,
  hourOf,
  noSolverCounts,
  type SolverCounts,
  type SolverSummary,
  summarize,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { InstanceContext } from '../../cluster/instance.js'
import { createSerialQueue, type SerialQueue } from '../../concurrency/one-at-a-time.js'
import { createSharedResults } from '../../concurrency/shared-results.js'
import { TimeoutError, withTimeout } from '../../concurrency/time-limits.js'
import { databaseUnavailable } from '../../store/write-health.js'
import type { SolverDirectory } from '../registry/solver-directory.js'

/**
 * Reads what solvers did, of all replicas (docs/decisions.md, D20). Equal reads share one result for some time. Other reads run
 * one after the other. All have a limited time.
 * @throws ServiceError DATABASE_UNAVAILABLE
 */
export type StatisticsReader = ReturnType<typeof createStatisticsReader>

/** What a solver did in a window. */
interface HourlySummary {
  readonly total: SolverSummary
  /** By Unix time in whole hours. The oldest is first, and hours without counts are left out. */
  readonly hours: ReadonlyMap<number, SolverSummary>
}

/**
 * Hours of one statement, which takes few milliseconds. Two hours of the quotes of 50 solvers at three replicas have 300 rows, and
 * eight of their orders 400.
 */
const STEPS = { all: { quotes: 2, orders: 8 }, one: { quotes: 72, orders: 1000 } } as const
/** How long a result is used again, at least. */
const KEEP_MS = 2000
/** How much longer than its read a result is used again. So callers who repeat a long read take 2% of the event loop. */
const KEPT_PER_READ = 50
const MAX_KEPT = 200

interface Window {
  readonly chainId: number
  readonly since: number
  readonly until: number
  readonly solver?: Address | undefined
}

interface CountedHour {
  readonly solver: Address
  readonly hour: number
}

/** Builds the reader. It reads some rows at a time, so that a long window does not hold the event loop. */
export function createStatisticsReader({ instance, clock }: InstanceContext, directory: SolverDirectory) {
  const { solverHours: hours, solverOrders: orders } = instance.stores
  // One queue for all reads: each read takes a piece of every turn of the event loop.
  const queue = createSerialQueue()
  const bySolver = shareReads<ReadonlyMap<Address, SolverSummary>>(queue, directory, clock)
  const byHour = shareReads<HourlySummary>(queue, directory, clock)

  /** @param keyOf what counts are summed up by */
  async function read<K>(
    window: Window,
    assertInTime: () => void,
    keyOf: (hour: CountedHour) => K,
  ): Promise<Map<K, SolverCounts>> {
    const { chainId, since, until, solver } = window
    const sums = new Map<K, SolverCounts>()
    const sumOf = (hour: CountedHour) => {
      const key = keyOf(hour)
      const sum = sums.get(key) ?? noSolverCounts()
      sums.set(key, sum)
      return sum
    }
    const steps = STEPS[solver === undefined ? 'all' : 'one']
    for (const [first, end] of split(since, until, steps.quotes)) {
      assertInTime()
      for (const hour of await hours.readHours(chainId, first, end, solver))
        addQuoteCounts(sumOf(hour), hour.counts)
      await nextTurn()
    }
    for (const [first, end] of split(since, until, steps.orders)) {
      assertInTime()
      for (const hour of await orders.readHours(chainId, first, solver, end)) {
        if (hour.deposited + hour.settled + hour.refunded > 0) addOrderCounts(sumOf(hour), hour)
      }
      await nextTurn()
    }
    return sums
  }

  /** The current hour is the last one. */
  function windowOf(chainId: number, windowHours: number, solver?: Address): Window {
    const current = hourOf(clock.now() / 1000)
    return { chainId, since: current - windowHours, until: current + 1, solver }
  }

  return {
    /**
     * The counts of each solver that has some.
     * @param windowHours whole hours before the current one
     */
    async bySolver(chainId: number, windowHours: number): Promise<ReadonlyMap<Address, SolverSummary>> {
      const window = windowOf(chainId, windowHours)
      return bySolver(window, async (assertInTime) =>
        summarizeEach(await read(window, assertInTime, ({ solver }) => solver)),
      )
    },
    /** The counts of a solver. */
    async byHour({ chainId, address }: SolverKey, windowHours: number): Promise<HourlySummary> {
      const window = windowOf(chainId, windowHours, address)
      return byHour(window, async (assertInTime) => {
        const sums = await read(window, assertInTime, ({ hour }) => hour)
        const total = noSolverCounts()
        for (const counts of sums.values()) {
          addQuoteCounts(total, counts)
          addOrderCounts(total, counts)
        }
        const byTime = new Map([...sums].sort(([one], [other]) => one - other))
        return { total: summarize(total), hours: summarizeEach(byTime) }
      })
    },
  }
}

/** Splits hours into parts of a number of hours. */
function* split(since: number, until: number, step: number): Generator<[first: number, end: number]> {
  for (let first = since; first < until; first += step) yield [first, Math.min(first + step, until)]
}

function summarizeEach<K>(sums: ReadonlyMap<K, SolverCounts>): Map<K, SolverSummary> {
  return new Map([...sums].map(([key, counts]) => [key, summarize(counts)]))
}

/** Longest wait for a result, with the reads before it. */
const TIMEOUT_MS = 10_000

/** A read. It calls `assertInTime` before each statement, so that no statement begins after its time. */
type TimedRead<T> = (assertInTime: () => void) => Promise<T>

/**
 * Builds a function that shares the results of equal reads. Failures are shared only while they are under way. Other reads run one after
 * the other in the queue. Those of solvers that are not registered wait for each other only, because anyone can ask for any address.
 */
function shareReads<T>(queue: SerialQueue, directory: SolverDirectory, clock: Clock) {
  const { monotonic } = clock
  const shared = createSharedResults<{ readonly summary: T; readonly keepMs: number }>(
    MAX_KEPT,
    clock,
    ({ keepMs }) => keepMs,
  )

  return async ({ chainId, since, until, solver }: Window, read: TimedRead<T>): Promise<T> => {
    const key = [chainId, since, until, solver].join(' ')
    const kept = await shared.get(key, () => {
      const isOfOther = solver !== undefined && directory.find({ chainId, address: solver }) === undefined
      const deadline = monotonic() + TIMEOUT_MS
      const assertInTime = () => {
        if (monotonic() >= deadline) throw outOfTime()
      }
      const run = async () => {
        assertInTime()
        const start = monotonic()
        const summary = await read(assertInTime)
        return { summary, keepMs: Math.max(KEEP_MS, KEPT_PER_READ * (monotonic() - start)) }
      }
      const reading = queue.run(run, isOfOther ? 'others' : 'registered')
      return withTimeout(reading, TIMEOUT_MS, clock).catch((error) => {
        throw error instanceof TimeoutError ? outOfTime() : error
      })
    })
    return kept.summary
  }
}

function outOfTime(): ServiceError {
  return databaseUnavailable(new TimeoutError(`no statistics within ${TIMEOUT_MS} ms`))
}
