import { type Clock, sleepOn, type Timer } from '../../packages/protocol/src/clock.js'

/** The clock of a process that can be killed. */
export interface MortalClock extends Clock {
  /** Nothing that waits is called any more. */
  kill(): void
}

/** Builds a clock that goes as another one until it is killed. */
export function createMortalClock(clock: Clock): MortalClock {
  const timers = new Set<Timer>()
  let isDead = false
  const idle: Timer = { stop() {}, unref: () => idle }

  function keep(timer: Timer): Timer {
    timers.add(timer)
    const kept: Timer = {
      stop() {
        timers.delete(timer)
        timer.stop()
      },
      unref: () => kept,
    }
    return kept
  }

  const mortal: MortalClock = {
    now: clock.now,
    monotonic: clock.monotonic,
    setTimeout: (action, ms) => (isDead ? idle : keep(clock.setTimeout(action, ms))),
    setInterval: (action, ms) => (isDead ? idle : keep(clock.setInterval(action, ms))),
    sleep: (ms, signal) => sleepOn(mortal, ms, signal),
    timeoutSignal(ms) {
      const controller = new AbortController()
      mortal.setTimeout(() => controller.abort(new DOMException('it took too long', 'TimeoutError')), ms)
      return controller.signal
    },
    kill() {
      isDead = true
      for (const timer of timers) timer.stop()
      timers.clear()
    },
  }
  return mortal
}
