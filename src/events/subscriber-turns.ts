import { setImmediate as nextTurn } from 'node:timers/promises'

/** A subscriber that waits for new entries until it is woken. */
export interface WaitingSubscriber {
  wake(): void
  /** Whether the time has come until which it waits, in milliseconds of the monotonic clock. */
  isDue(now: number): boolean
}

/** Subscribers that are woken in one turn of the event loop. */
const WAKES_PER_TURN = 64

/** The subscribers that wait for new entries. */
export class WaitList {
  readonly #waiting = new Set<WaitingSubscriber>()

  add(subscriber: WaitingSubscriber): void {
    this.#waiting.add(subscriber)
  }

  delete(subscriber: WaitingSubscriber): void {
    this.#waiting.delete(subscriber)
  }

  wakeAll(): void {
    const woken = [...this.#waiting]
    this.#waiting.clear()
    void wakeInTurns(woken)
  }

  /** Wakes those whose time has come. */
  wakeDue(now: number): void {
    void wakeInTurns([...this.#waiting].filter((subscriber) => subscriber.isDue(now)))
  }
}

/** Wakes a few in each turn of the event loop, so that other work continues meanwhile. */
async function wakeInTurns(subscribers: readonly WaitingSubscriber[]): Promise<void> {
  let count = 0
  for (const subscriber of subscribers) {
    subscriber.wake()
    if (++count % WAKES_PER_TURN === 0) await nextTurn()
  }
}

/** @returns undefined when the caller may continue at once; otherwise a promise that resolves in its turn */
export type TurnLimiter = () => Promise<void> | undefined

/**
 * Lets a number of callers continue in each turn of the event loop, in the order of their calls. So thousands of
 * subscribers that work at the same moment leave time for everything else.
 */
export function createTurnLimiter(perTurn: number): TurnLimiter {
  const waiting: (() => void)[] = []
  let left = perTurn
  let isCounting = false

  /** Runs as long as a caller has continued in the last turn. */
  async function count(): Promise<void> {
    isCounting = true
    while (left < perTurn) {
      await nextTurn()
      const next = waiting.splice(0, perTurn)
      left = perTurn - next.length
      for (const resolve of next) resolve()
    }
    isCounting = false
  }

  return () => {
    if (left > 0) {
      left--
      if (!isCounting) void count()
      return undefined
    }
    return new Promise((resolve) => waiting.push(resolve))
  }
}
