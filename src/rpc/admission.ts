import type { Outcome, Protocol } from './method.js'
import type { Client } from './rate-limits.js'

/** The limits of a method, and the count of the calls that do not reach it. */
export interface Admission {
  /** Counts a call. @throws ServiceError RATE_LIMITED */
  checkLimits(client: Client): Promise<void>
  /**
   * Counts a call that did not reach the method.
   * @param seconds from the request to its end
   */
  countRejected(protocol: Protocol, outcome: Outcome, seconds: number): void
}
