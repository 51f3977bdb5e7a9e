import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { keyOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'

/** Runs the reads of own results: one of a solver at a time, and few in all. */
type RunRead = <T>(key: SolverKey, read: () => Promise<T>) => Promise<T>

/** Reads of addresses that are not registered, with the one under way. Anyone has many keys. */
const MAX_OTHERS = 32

/**
 * Builds the function. A read waits for its turn. Registered solvers need no limit: each has one read, and their places are
 * limited. So addresses that are not registered cannot take the turns of solvers.
 * @param isRegistered whether a solver is registered on the chain now
 * @throws ServiceError RATE_LIMITED for a second read of a solver, and when too many reads of others wait
 */
export function createOwnResultReads(isRegistered: (key: SolverKey) => boolean): RunRead {
  const solvers = new Set<string>()
  /**
   * Reads of each group run one after the other, so that two are under way at most. Each keeps the connection that also writes
   * records.
   */
  const groups = createSerialQueue()
  let others = 0
  return async (key, read) => {
    const solver = keyOf(key)
    const group = isRegistered(key) ? 'registered' : 'others'
    if (solvers.has(solver) || (group === 'others' && others >= MAX_OTHERS)) throw busy()
    solvers.add(solver)
    if (group === 'others') others++
    try {
      return await groups.run(read, group)
    } finally {
      solvers.delete(solver)
      if (group === 'others') others--
    }
  }
}

function busy(): ServiceError {
  const message = 'Another page is being read: read one page after the other, and try again in 1 s.'
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: 1 })
}
