import { type Clock, sleepOn, type Timer } from '../../packages/protocol/src/clock.js'

interface Waiting {
  readonly action: () => void
  at: number
  readonly everyMs: number | undefined
}

/** A clock whose time passes only when a test says so. */
export interface ManualClock extends Clock {
  /**
   * Lets time pass. What is due is called in its order, each at its own time, and what it starts may be due as well. Between
   * two of them, promises that can settle do.
   */
  advance(ms: number): Promise<void>
  /** Time passes in which the process stands still: what is due meanwhile is called when time is let pass again. */
  standStill(ms: number): void
  /** Sets the time of day, as a person or a time server does. No timer is due earlier or later for it. */
  set(unixMs: number): void
  /** How many timers wait: what is closed must leave none. */
  readonly waiting: number
}

/** Builds a clock that stands at a Unix time in milliseconds. */
export function createManualClock(startMs = 1_800_000_000_000): ManualClock {
  const timers = new Set<Waiting>()
  let passedMs = 0
  let offsetMs = startMs

  function start(action: () => void, ms: number, everyMs?: number): Timer {
    const waiting: Waiting = { action, at: passedMs + Math.max(ms, 0), everyMs }
    timers.add(waiting)
    const timer: Timer = { stop: () => void timers.delete(waiting), unref: () => timer }
    return timer
  }

  function nextDue(until: number): Waiting | undefined {
    const due = [...timers].filter(({ at }) => at <= until)
    return due.reduce<Waiting | undefined>(
      (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
      undefined,
    )
  }

  const clock: ManualClock = {
    now: () => offsetMs + passedMs,
    monotonic: () => passedMs,
    setTimeout: (action, ms) => start(action, ms),
    setInterval: (action, ms) => start(action, ms, Math.max(ms, 1)),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    timeoutSignal(ms) {
      const controller = new AbortController()
      start(
        () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
        ms,
      )
      return controller.signal
    },
    async advance(ms) {
      const until = passedMs + ms
      await settle()
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        passedMs = Math.max(passedMs, timer.at)
        if (timer.everyMs === undefined) timers.delete(timer)
        else timer.at = passedMs + timer.everyMs
        timer.action()
        await settle()
      }
      passedMs = Math.max(passedMs, until)
      await settle()
    },
    standStill(ms) {
      passedMs += ms
    },
    set(unixMs) {
      offsetMs = unixMs - passedMs
    },
    get waiting() {
      return timers.size
    },
  }
  return clock
}

/** All promises that need nothing from outside have settled after a turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
