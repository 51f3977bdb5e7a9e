import { LRUCache } from 'lru-cache'

/** Within this time, one client moves the count by at most 1 up or down. */
export const CLIENT_INTERVAL_MS = 10_000
/** Clients whose part of the count is remembered. */
const MAX_CLIENTS = 64
const MOST_PER_CLIENT = 1

/** What one client has added and taken away since a moment. */
interface ClientPart {
  readonly since: number
  sum: number
}

/**
 * The count of a solver's time losses, which failures raise and successes lower, never below 0. It follows the solver to
 * another endpoint, with the parts of all clients.
 */
export class LossCount {
  /** Undefined until the first client. */
  #parts: LRUCache<string, ClientPart> | undefined
  #value = 0

  get value(): number {
    return this.#value
  }

  /** Sets the count; the parts of clients stay. */
  set(value: number): void {
    this.#value = value
  }

  /** Moves the count for a client, at most by what the client has left. @param now in milliseconds */
  move(client: string, by: number, now: number): void {
    this.#parts ??= new LRUCache({ max: MAX_CLIENTS })
    const known = this.#parts.get(client)
    const part =
      known === undefined || now - known.since >= CLIENT_INTERVAL_MS ? { since: now, sum: 0 } : known
    const sum = Math.max(-MOST_PER_CLIENT, Math.min(MOST_PER_CLIENT, part.sum + by))
    this.#value = Math.max(0, this.#value + sum - part.sum)
    part.sum = sum
    if (part !== known) this.#parts.set(client, part)
  }
}
