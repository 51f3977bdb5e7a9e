import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timer } from '../../packages/protocol/src/clock.js'

/** A time in which pauses are measured. */
export interface PauseWatch {
  /** @returns for how many milliseconds the process was paused since the watch began */
  pausedMs(): number
  end(): void
}

/** Measures the pauses of this process: it was stopped, its machine was paused, or one turn of its event loop took long. */
export interface PauseMeter {
  /** Begins a watch, which must be ended. */
  watch(): PauseWatch
}

const CHECK_MS = 50
/** A check that is late by less than this is usual under load. */
const TOLERATED_MS = 200

/** Builds the measurement. Its timer runs only during watches. */
export function createPauseMeter(clock: Pick<Clock, 'monotonic' | 'setInterval'>): PauseMeter {
  let watches = 0
  let timer: Timer | undefined
  let checkedAt = 0
  let totalMs = 0

  /** @returns the milliseconds of all pauses so far */
  function check(): number {
    const now = clock.monotonic()
    const lateMs = now - checkedAt - CHECK_MS
    if (lateMs > TOLERATED_MS) totalMs += lateMs
    checkedAt = now
    return totalMs
  }

  function begin(): void {
    checkedAt = clock.monotonic()
    timer = clock.setInterval(check, CHECK_MS)
  }

  return {
    watch() {
      if (watches++ === 0) begin()
      const beforeMs = check()
      return {
        pausedMs: () => check() - beforeMs,
        end() {
          if (--watches === 0) timer?.stop()
        },
      }
    },
  }
}

/** In the first one, what has arrived is read. In the second one, what that has begun goes on. */
const TURNS = 2

/**
 * Calls back when what has arrived at this process has been read. A timer that is due runs before the event loop reads, so
 * that after a pause everything that came in time would be too late for it.
 */
export async function afterReading(action: () => void): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn()
  action()
}
