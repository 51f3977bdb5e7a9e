import { setImmediate as nextTurn } from 'node:timers/promises'

/** Waits until it is woken. */
export interface Sleeper {
  wake(): void
  /** Whether the time has come until which it sleeps, in milliseconds of the monotonic clock. */
  hasSleptEnough(now: number): boolean
}

/** Sleepers that are woken in one turn of the event loop. */
const WAKES_PER_TURN = 64

/** The subscribers that wait for new entries. */
export class Sleepers {
  readonly #sleeping = new Set<Sleeper>()

  add(sleeper: Sleeper): void {
    this.#sleeping.add(sleeper)
  }

  delete(sleeper: Sleeper): void {
    this.#sleeping.delete(sleeper)
  }

  wakeAll(): void {
    const woken = [...this.#sleeping]
    this.#sleeping.clear()
    void wakeInTurns(woken)
  }

  /** Wakes those whose time has come. */
  wakeDue(now: number): void {
    void wakeInTurns([...this.#sleeping].filter((sleeper) => sleeper.hasSleptEnough(now)))
  }
}

/** Wakes a few in each turn of the event loop, so that other work continues meanwhile. */
async function wakeInTurns(sleepers: readonly Sleeper[]): Promise<void> {
  let count = 0
  for (const sleeper of sleepers) {
    sleeper.wake()
    if (++count % WAKES_PER_TURN === 0) await nextTurn()
  }
}
