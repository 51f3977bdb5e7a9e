import type { Clock } from '../../protocol/src/clock.js'
import type { SolverParts } from './solver-parts.js'

const MINUTE_MS = 60_000

/** @returns what comes first: what the work returns, or that of `onLate`, which is called when the time is over @throws what either throws */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, onLate: () => T): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(onLate)
  return Promise.race([work, late]).finally(() => over.abort())
}

/** @throws Error when the work has not ended by then, and what the work throws */
export const inTime = <T>(clock: Clock, ms: number, who: string, work: Promise<T>) =>
  within(clock, ms, work, () => {
    throw new Error(`${who} has not answered within ${ms / 1000} s`)
  })

/**
 * Tries until it succeeds. What fails is reported, and tried again after a pause.
 * @param attempt gets how often it has failed
 * @param pauseMs by the failures before this one
 * @throws an error that is final, and what fails after the signal has aborted
 */
export async function keepTrying<T>(
  { clock, signal, onError }: SolverParts,
  attempt: (failures: number) => Promise<T>,
  pauseMs: (failures: number, error: Error) => number,
  isFinal?: (error: unknown) => boolean,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      signal.throwIfAborted()
      return await attempt(failures)
    } catch (error) {
      if (signal.aborted || isFinal?.(error)) throw error
      onError(error)
      await clock.sleep(pauseMs(failures, error as Error), signal)
    }
  }
}

/** Builds `isDue` of the parts of a solver. Reasons are kept, so they must be few. */
export function createOnceAMinute(clock: Clock): (reason: string) => boolean {
  const written = new Map<string, number>()
  return (reason) => {
    const isDue = clock.monotonic() - (written.get(reason) ?? -MINUTE_MS) >= MINUTE_MS
    if (isDue) written.set(reason, clock.monotonic())
    return isDue
  }
}
