import { LRUCache } from 'lru-cache'

/** Within this time, one client moves the count by at most 1 up or down. */
export const CLIENT_INTERVAL_MS = 10_000
/** The clients whose parts of the count are kept. */
const MAX_CLIENTS = 64
const MOST_PER_CLIENT = 1
const EARLY_TRIAL_INTERVAL_MS = 300_000

/** The sum of what one client has added and subtracted since a time. */
interface ClientPart {
  readonly since: number
  sum: number
}

/**
 * The history that a solver keeps at another endpoint: how much time it has cost callers, and the part of each client in that. A
 * failure raises the count, and a success lowers it to 0 at the least. It also has the time of the last early trial.
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
   * Uses the solver's early trial: a trial before the end of an open period. So a solver that answers only when no quote
   * waits, or that changes its endpoint repeatedly, costs the time of one caller in 5 minutes.
   * @returns whether the early trial is allowed now
   */
  takeEarlyTrial(now: number): boolean {
    if (now - this.#earlyTrialAt < EARLY_TRIAL_INTERVAL_MS) return false
    this.#earlyTrialAt = now
    return true
  }

  /** Moves the count for a client, within the client's limit. @param now in milliseconds */
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
