import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../domain/errors.js'
import type { Address } from '../domain/values/hex.js'

/** The sessions that a solver opens in a minute, from all client addresses together. */
export interface SessionRate {
  /** Counts a session before it is opened, so that sessions at the same time count too. @throws ServiceError RATE_LIMITED */
  count(address: Address): Promise<void>
  /** Takes back the count of a session that was not opened. So a solver without a bond takes no memory. */
  takeBack(address: Address): Promise<void>
}

const MINUTE_SECONDS = 60

/**
 * Builds the counts. Each session is written to the database on all of its chains, at its begin and at its end.
 * @param perMinute 0 is no limit
 */
export function createSessionRate(perMinute: number): SessionRate {
  if (perMinute === 0) return { async count() {}, async takeBack() {} }
  const limiter = new RateLimiterMemory({ points: perMinute, duration: MINUTE_SECONDS })
  return {
    async count(address) {
      try {
        await limiter.consume(address)
      } catch (result) {
        if (!(result instanceof RateLimiterRes)) throw result
        const retryAfterSeconds = Math.ceil(result.msBeforeNext / 1000)
        const message = `Too many sessions of this solver: at most ${perMinute} a minute, try again in ${retryAfterSeconds} s.`
        throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
      }
    },
    async takeBack(address) {
      const { consumedPoints } = await limiter.reward(address)
      if (consumedPoints <= 0) await limiter.delete(address)
    },
  }
}
