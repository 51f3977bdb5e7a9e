/** A timer that has been started. */
export interface Timer {
  /** Ends it. Nothing is called afterwards. */
  stop(): void
  /** Lets the process end although the timer waits. */
  unref(): Timer
}

/**
 * Time as a value. What waits, expires or measures takes a clock, so that a test can let time pass by itself. Times are in
 * milliseconds.
 */
export interface Clock {
  /** Unix time. It may jump: a person or a time server sets it. */
  now(): number
  /** Time that only goes on, from an unknown beginning. */
  monotonic(): number
  setTimeout(action: () => void, ms: number): Timer
  setInterval(action: () => void, ms: number): Timer
  /** @returns after that time @throws the reason of the signal when it aborts before */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A signal that aborts after that time with a TimeoutError, as that of `AbortSignal.timeout`. */
  timeoutSignal(ms: number): AbortSignal
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(action, ms) {
    const timer = setTimeout(action, ms)
    return timerOf(timer, () => clearTimeout(timer))
  },
  setInterval(action, ms) {
    const timer = setInterval(action, ms)
    return timerOf(timer, () => clearInterval(timer))
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  timeoutSignal: (ms) => AbortSignal.timeout(ms),
}

/** `Clock.sleep` by the other functions of a clock. */
export function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      timer.stop()
      reject(signal?.reason)
    }
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function timerOf(handle: { unref(): unknown }, stop: () => void): Timer {
  const timer: Timer = {
    stop,
    unref() {
      handle.unref()
      return timer
    },
  }
  return timer
}
