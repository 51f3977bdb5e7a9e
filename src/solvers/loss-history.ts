import { LRUCache } from 'lru-cache'

/** Within this time, one client moves the count by at most 1 up or down. */
export const CLIENT_INTERVAL_MS = 10_000
/** Clients whose part of the count is remembered. */
const MAX_CLIENTS = 64
const MOST_PER_CLIENT = 1
const EARLY_TRIAL_INTERVAL_MS = 300_000

/** What one client has added and taken away since a moment. */
interface ClientPart {
  readonly since: number
  sum: number
}

/**
 * What a solver takes along to another endpoint: the count of its time losses, which failures raise and successes lower,
 * never below 0; the parts of all clients in it; and when it last had an early trial.
 */
export class LossHistory {
  /** Undefined until the first client. */
  #parts: LRUCache<string, ClientPart> | undefined
  #count = 0
  #earlyTrialAt = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  /** Sets the count; the parts of clients stay. */
  setCount(count: number): void {
    this.#count = count
  }

  /**
   * Takes the solver's early trial: that of a term which has not ended. A solver that only answers when no quote waits, or
   * moves again and again, costs the time of one caller in 5 minutes.
   * @returns whether it may have one now
   */
  takeEarlyTrial(now: number): boolean {
    if (now - this.#earlyTrialAt < EARLY_TRIAL_INTERVAL_MS) return false
    this.#earlyTrialAt = now
    return true
  }

  /** Moves the count for a client, at most by what the client has left. @param now in milliseconds */
  move(client: string, by: number, now: number): void {
    this.#parts ??= new LRUCache({ max: MAX_CLIENTS })
    const known = this.#parts.get(client)
    const part =
      known === undefined || now - known.since >= CLIENT_INTERVAL_MS ? { since: now, sum: 0 } : known
    const sum = Math.max(-MOST_PER_CLIENT, Math.min(MOST_PER_CLIENT, part.sum + by))
    this.#count = Math.max(0, this.#count + sum - part.sum)
    part.sum = sum
    if (part !== known) this.#parts.set(client, part)
  }
}
