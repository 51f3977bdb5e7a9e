import { LRUCache } from 'lru-cache'
import { askedSession, type Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { CallSignal } from '../../clients/call.js'

/** Called with the time when a waiting request gets its slot. */
type OnSlot = (now: number) => void

/** The most requests that wait for an answer on one session at a time. */
export const MAX_OPEN_SESSION_REQUESTS = 1024

/** Weight of the last request in the average. */
const LAST_WEIGHT = 1 / 8
/** A request may wait for a slot only if it has this many times the expected time, as requests do not all take equally long. */
const SAFETY_FACTOR = 1.2

/**
 * The request slots of one origin or one session. At most `limit` requests run at the same time, and as many more may wait.
 * Times are milliseconds on one clock.
 */
export class RequestSlots {
  readonly #limit: number
  readonly #waiting = new Set<OnSlot>()
  /** Ends a request that no caller waits for any more; the oldest first. */
  readonly #yielding = new Set<() => void>()
  #running = 0
  #usualMs: number | undefined

  /** When a request was last sent. */
  lastSentAt = Number.NEGATIVE_INFINITY

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether the next request would have to wait. Requests that no caller waits for make room. */
  get isFull(): boolean {
    return this.#running - this.#yielding.size >= this.#limit
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether a request that comes now is expected to end before the deadline. */
  canServe(now: number, deadline: number): boolean {
    if (!this.isFull) return true
    if (this.#usualMs === undefined || this.#waiting.size >= this.#limit) return false
    // In its usual time, each of the slots becomes free once.
    const waitMs = (this.#usualMs * (this.#waiting.size + 1)) / this.#limit
    return now + waitMs + this.#usualMs * SAFETY_FACTOR <= deadline
  }

  /** Takes a slot if one is free. @returns whether one was free */
  tryTake(): boolean {
    if (this.#running >= this.#limit) return false
    this.#running++
    return true
  }

  /** Lets a request that runs give its slot to one that would have to wait. @param end ends it, and is called at most once */
  yield(end: () => void): void {
    if (this.#waiting.size > 0) end()
    else this.#yielding.add(end)
  }

  /** To be called when a request that was to yield has ended. */
  unyield(end: () => void): void {
    this.#yielding.delete(end)
  }

  /**
   * Waits for a slot, after the requests that wait already. The oldest request that no caller waits for ends.
   * @returns when the request got its slot; undefined when the signal ended its wait
   */
  wait(signal: CallSignal): Promise<number | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined)
      const onAbort = () => {
        this.#waiting.delete(onSlot)
        resolve(undefined)
      }
      const onSlot: OnSlot = (now) => {
        signal.removeEventListener('abort', onAbort)
        resolve(now)
      }
      this.#waiting.add(onSlot)
      signal.addEventListener('abort', onAbort)
      const [oldest] = this.#yielding
      if (oldest === undefined) return
      this.#yielding.delete(oldest)
      oldest()
    })
  }

  /**
   * Releases a slot. The request that waits longest gets it.
   * @param startedAt when its request got the slot
   */
  release(startedAt: number, now: number): void {
    this.#running--
    const tookMs = now - startedAt
    this.#usualMs =
      this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * LAST_WEIGHT
    const [next] = this.#waiting
    if (next === undefined) return
    this.#waiting.delete(next)
    this.#running++
    next(now)
  }
}

/** The slots of the connections of solvers. */
export type SlotsByConnection = ReturnType<typeof createSlots>

/** More than the endpoints and sessions of all chains. */
const MAX_CONNECTIONS = 10_000

/** Builds the slots. @param maxConnections of one origin */
export function createSlots(maxConnections: number) {
  const byConnection = new LRUCache<string, RequestSlots>({ max: MAX_CONNECTIONS })
  return {
    /** A solver's chains share its session. Solvers at one origin share its connections. */
    of(solver: Solver): RequestSlots {
      const session = askedSession(solver)
      const connection = session?.id ?? new URL(solver.endpointUrl).origin
      const limit = session === undefined ? maxConnections : MAX_OPEN_SESSION_REQUESTS
      const slots = byConnection.get(connection) ?? new RequestSlots(limit)
      byConnection.set(connection, slots)
      return slots
    },
  }
}
