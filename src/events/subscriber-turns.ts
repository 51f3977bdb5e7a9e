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

/** Time for which a subscriber may take nothing of what it received. */
const STALL_MS = 10_000
/** Time for which a subscriber may lag after it has caught up. */
const MAX_LAG_MS = 60_000

/** How fast a subscriber takes what it receives. Times for which it waits for the service do not count. */
export class Pace {
  /** Start of sending the last events; undefined while it waits for more. */
  #busySince: number | undefined = performance.now()
  /** Since when it has lagged, after it had caught up. */
  #laggingSince: number | undefined
  /** Start of its wait for a part of the log. */
  #waitsSince: number | undefined
  #hasCaughtUp = false

  /** It has sent the last events and requests more. */
  request(): void {
    this.#busySince = undefined
  }

  /** It has received events to send. */
  receive(): void {
    this.#busySince = performance.now()
  }

  startWait(): void {
    this.#waitsSince ??= performance.now()
  }

  endWait(): void {
    if (this.#laggingSince !== undefined && this.#waitsSince !== undefined)
      this.#laggingSince += performance.now() - this.#waitsSince
    this.#waitsSince = undefined
  }

  /** It has moved through the log. */
  move(isAtEnd: boolean): void {
    if (isAtEnd) this.#laggingSince = undefined
    else if (this.#hasCaughtUp) this.#laggingSince ??= performance.now()
  }

  /** It waits at the end of the log. From now on it may lag only for a while. */
  catchUp(): void {
    this.#hasCaughtUp = true
    this.#laggingSince = undefined
  }

  /** Excuses its lag so far, which the service has caused. */
  excuse(): void {
    this.#laggingSince = undefined
  }

  isTooSlow(now: number): boolean {
    const isStalled = this.#busySince !== undefined && now - this.#busySince > STALL_MS
    if (isStalled || this.#laggingSince === undefined || this.#waitsSince !== undefined) return isStalled
    return now - this.#laggingSince > MAX_LAG_MS
  }
}
