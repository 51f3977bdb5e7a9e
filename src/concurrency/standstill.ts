import type { Clock, Timer } from '../clock.js'

/** A time in which standstills are measured. */
export interface StandstillWatch {
  /** @returns for how many milliseconds the process has stood still since the watch began */
  stoodStillMs(): number
  end(): void
}

/** Measures for how long this process stands still: it was stopped, or one turn of its event loop took long. */
export interface Standstill {
  /** Begins a watch, which must be ended. */
  watch(): StandstillWatch
}

const CHECK_MS = 50
/** A check that is late by less than this is usual under load. */
const TOLERATED_MS = 200

/** Builds the measurement. Its timer runs only during watches. */
export function createStandstill(clock: Pick<Clock, 'monotonic' | 'setInterval'>): Standstill {
  let watches = 0
  let timer: Timer | undefined
  let checkedAt = 0
  let totalMs = 0

  /** @returns the milliseconds of all standstills so far */
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
        stoodStillMs: () => check() - beforeMs,
        end() {
          if (--watches === 0) timer?.stop()
        },
      }
    },
  }
}
