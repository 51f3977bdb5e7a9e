import { setImmediate as nextTurn } from 'node:timers/promises'

/** A subscriber that waits for new entries until it is woken. */
export interface WaitingSubscriber {
  wake(): void
  /** Whether the time has come until which it waits, in milliseconds of the monotonic clock. */
  isDue(now: number): boolean
}

/** Subscribers that continue in one turn of the event loop. Each takes about 10 us. */
const PER_TURN = 64

/**
 * The turns of subscribers. Of thousands that want to continue at the same moment, some do so in each turn of the event
 * loop, in their order. Other work is done meanwhile.
 */
export class SubscriberTurns {
  /** The subscribers that wait for new entries. */
  readonly #waiting = new Set<WaitingSubscriber>()
  /** What continues in the next turns. */
  readonly #due: (() => void)[] = []
  #left = PER_TURN
  #isCounting = false

  add(subscriber: WaitingSubscriber): void {
    this.#waiting.add(subscriber)
  }

  delete(subscriber: WaitingSubscriber): void {
    this.#waiting.delete(subscriber)
  }

  /** Wakes all that wait, each in its turn. */
  wakeAll(): void {
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const subscriber of woken) this.#continue(() => subscriber.wake())
  }

  /** Wakes those whose time has come, each in its turn. */
  wakeDue(now: number): void {
    const due = [...this.#waiting].filter((subscriber) => subscriber.isDue(now))
    for (const subscriber of due) this.#continue(() => subscriber.wake())
  }

  /** Resolves in the turn of the caller, which continues without waiting for anything else. */
  step(): Promise<void> {
    return new Promise((resolve) => this.#continue(resolve))
  }

  #continue(work: () => void): void {
    if (this.#left === 0) this.#due.push(work)
    else {
      this.#left--
      work()
      void this.#count()
    }
  }

  /** Runs as long as something has continued in the last turn. */
  async #count(): Promise<void> {
    if (this.#isCounting) return
    this.#isCounting = true
    while (this.#left < PER_TURN) {
      await nextTurn()
      const next = this.#due.splice(0, PER_TURN)
      this.#left = PER_TURN - next.length
      for (const work of next) work()
    }
    this.#isCounting = false
  }
}
