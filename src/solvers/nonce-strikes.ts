import { LRUCache } from 'lru-cache'
import type { Address } from '../domain/hex.js'

/**
 * The solvers of one chain that send used nonces. The second strike within an hour bars a solver for a minute. Each strike
 * after the end of a bar doubles the next one, up to an hour. An hour without a strike or a bar clears the solver.
 */
export interface NonceStrikes {
  /**
   * Counts a nonce that was used already when the solver sent it. A strike during a bar does not count.
   * @param now milliseconds on a clock that never goes back, here and below
   * @returns the length of the bar that begins, in milliseconds, or undefined
   */
  strike(solver: Address, now: number): number | undefined
  isSuspended(solver: Address, now: number): boolean
}

const FIRST_BAR_MS = 60_000
const LONGEST_BAR_MS = 3_600_000
/** So long after the last strike, and after the end of its bar, the solver is clear again. */
const MEMORY_MS = 3_600_000

interface StrikeRecord {
  readonly strikes: number
  /** When the last strike was found, or the end of the bar that it caused. */
  readonly until: number
}

/** Builds an empty record. @param maxSolvers the solvers that it holds; the one that is used least goes first */
export function createNonceStrikes(maxSolvers: number): NonceStrikes {
  const records = new LRUCache<Address, StrikeRecord>({ max: maxSolvers })
  return {
    strike(solver, now) {
      const known = records.get(solver)
      if (known !== undefined && now < known.until) return undefined
      const isRecent = known !== undefined && now - known.until < MEMORY_MS
      const strikes = isRecent ? known.strikes + 1 : 1
      const barMs = strikes < 2 ? 0 : Math.min(LONGEST_BAR_MS, FIRST_BAR_MS * 2 ** (strikes - 2))
      records.set(solver, { strikes, until: now + barMs })
      return barMs === 0 ? undefined : barMs
    },
    isSuspended: (solver, now) => now < (records.get(solver)?.until ?? Number.NEGATIVE_INFINITY),
  }
}
