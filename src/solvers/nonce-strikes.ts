import { LRUCache } from 'lru-cache'
import type { Address } from '../domain/hex.js'

/**
 * The solvers of one chain that send used nonces. The second strike within an hour suspends a solver for a minute. Each
 * strike after the end of a suspension doubles the next one, up to an hour. An hour without a strike or a suspension
 * clears the solver.
 */
export interface NonceStrikes {
  /**
   * Counts a nonce that was already used when the solver sent it. A strike during a suspension does not count.
   * @param now milliseconds on a clock that never goes back, here and below
   * @returns the length of the suspension that begins, in milliseconds, or undefined
   */
  strike(solver: Address, now: number): number | undefined
  isSuspended(solver: Address, now: number): boolean
}

const FIRST_SUSPENSION_MS = 60_000
const LONGEST_SUSPENSION_MS = 3_600_000
/** This long after the last strike, and after the end of its suspension, the solver is clear again. */
const MEMORY_MS = 3_600_000

interface StrikeRecord {
  readonly strikes: number
  /** The time of the last strike, or the end of the suspension that it caused. */
  readonly until: number
}

/** Builds the strikes. @param maxSolvers the solvers that are kept; the one that was used least recently is removed first */
export function createNonceStrikes(maxSolvers: number): NonceStrikes {
  const records = new LRUCache<Address, StrikeRecord>({ max: maxSolvers })
  return {
    strike(solver, now) {
      const known = records.get(solver)
      if (known !== undefined && now < known.until) return undefined
      const isRecent = known !== undefined && now - known.until < MEMORY_MS
      const strikes = isRecent ? known.strikes + 1 : 1
      const suspensionMs =
        strikes < 2 ? 0 : Math.min(LONGEST_SUSPENSION_MS, FIRST_SUSPENSION_MS * 2 ** (strikes - 2))
      records.set(solver, { strikes, until: now + suspensionMs })
      return suspensionMs === 0 ? undefined : suspensionMs
    },
    isSuspended: (solver, now) => now < (records.get(solver)?.until ?? Number.NEGATIVE_INFINITY),
  }
}
