import { RateLimiterMemory } from 'rate-limiter-flexible'
import { ServiceError } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'

/** The sessions that a solver opens in a minute, from all client addresses together. */
export interface SessionRate {
  /** @throws ServiceError RATE_LIMITED */
  assertFree(address: Address): Promise<void>
  /** Counts a session of a solver with a bond. So addresses without one take no memory. */
  count(address: Address): Promise<void>
}

const MINUTE_SECONDS = 60

/**
 * Builds the counts. Each session is written to the database on all of its chains, at its begin and at its end.
 * @param perMinute 0 is no limit
 */
export function createSessionRate(perMinute: number): SessionRate {
  if (perMinute === 0) return { async assertFree() {}, async count() {} }
  const limiter = new RateLimiterMemory({ points: perMinute, duration: MINUTE_SECONDS })
  return {
    async assertFree(address) {
      const counted = await limiter.get(address)
      if (counted === null || counted.consumedPoints < perMinute) return
      const retryAfterSeconds = Math.ceil(counted.msBeforeNext / 1000)
      const message = `Too many sessions of this solver: at most ${perMinute} a minute, try again in ${retryAfterSeconds} s.`
      throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
    },
    async count(address) {
      await limiter.penalty(address)
    },
  }
}
