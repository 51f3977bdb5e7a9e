import { createKeyedQueue } from '../concurrency/keyed-queue.js'
import { ServiceError } from '../domain/errors.js'
import type { SolverKey } from '../domain/solver.js'

/** Runs the reads of own results: one of a solver at a time, and few in all. */
export type RunRead = <T>(key: SolverKey, read: () => Promise<T>) => Promise<T>

/** Reads under way at the same time. Each keeps the thread or the connection that also writes records. */
const LANES = 2
/** Reads that may wait. */
const MAX_WAITING = 64

/**
 * Builds the function. A read waits for its turn.
 * @throws ServiceError RATE_LIMITED when too many wait; a second read of a solver that has one waiting is also too many
 */
export function createOwnResultReads(): RunRead {
  const solvers = new Set<string>()
  const lanes = createKeyedQueue<number>()
  let next = 0
  return async ({ chainId, address }, read) => {
    const solver = `${chainId} ${address}`
    if (solvers.has(solver) || solvers.size >= MAX_WAITING) throw busy()
    solvers.add(solver)
    next = (next + 1) % LANES
    try {
      return await lanes.run(next, read)
    } finally {
      solvers.delete(solver)
    }
  }
}

function busy(): ServiceError {
  const message = 'Another page is being read: read one page after the other, and try again in 1 s.'
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: 1 })
}
