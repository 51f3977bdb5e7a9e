import type { Clock } from '../../protocol/src/clock.js'

const MINUTE_MS = 60_000

/** Builds `isDue` of the parts of a solver. Reasons are kept, so they must be few. */
export function createOnceAMinute(clock: Clock): (reason: string) => boolean {
  const written = new Map<string, number>()
  return (reason) => {
    const isDue = clock.monotonic() - (written.get(reason) ?? -MINUTE_MS) >= MINUTE_MS
    if (isDue) written.set(reason, clock.monotonic())
    return isDue
  }
}
