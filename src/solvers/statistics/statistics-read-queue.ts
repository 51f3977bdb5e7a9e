import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import { TimeoutError, withTimeout } from '../../concurrency/time-limits.js'
import { ServiceError } from '../../domain/errors.js'
import { databaseUnavailable } from '../../store/database-unavailable.js'

/** Most reads of solvers that are not registered, with the one under way: anyone can ask for any address. */
const MAX_READS_OF_OTHERS = 32
/** Longest wait for a result, with the reads before it. */
const TIMEOUT_MS = 10_000

/** What a read is about. Those of all solvers, and of registered ones, are few: equal ones share a result. */
export type ReadKind = 'all' | 'registered' | 'other'

/** A read. It calls `assertInTime` before each statement, so that no statement begins after its time. */
export type TimedRead<T> = (assertInTime: () => void) => Promise<T>

/**
 * Runs reads of statistics one after the other.
 * @throws ServiceError RATE_LIMITED at once, when too many reads of other solvers wait. The promise rejects with
 * ServiceError DATABASE_UNAVAILABLE when there is no result in time
 */
export type RunStatisticsRead = <T>(kind: ReadKind, read: TimedRead<T>) => Promise<T>

/** Builds the queue. @param clock milliseconds that never go back */
export function createStatisticsReadQueue(clock: () => number): RunStatisticsRead {
  const queue = createSerialQueue()
  let readsOfOthers = 0
  return (kind, read) => {
    const places = kind === 'other' ? 1 : 0
    if (readsOfOthers + places > MAX_READS_OF_OTHERS) throw busy()
    readsOfOthers += places
    const deadline = clock() + TIMEOUT_MS
    const assertInTime = () => {
      if (clock() >= deadline) throw outOfTime()
    }
    const result = queue.run(() => {
      assertInTime()
      return read(assertInTime)
    })
    const counted = result.finally(() => {
      readsOfOthers -= places
    })
    return withTimeout(counted, TIMEOUT_MS).catch((error) => {
      throw error instanceof TimeoutError ? outOfTime() : error
    })
  }
}

function outOfTime(): ServiceError {
  return databaseUnavailable(new TimeoutError(`no statistics within ${TIMEOUT_MS} ms`))
}

function busy(): ServiceError {
  const message = 'Statistics of too many unregistered solvers are being read: try again in 1 s.'
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: 1 })
}
