import type { Clock } from '../../../protocol/src/clock.js'

/** For so long, a slow transaction says how long others may take. */
const COUNTS_MS = 600_000

/** Builds what knows the slowest transaction of late. */
export function createSlowest(clock: Pick<Clock, 'monotonic'>) {
  let slowest = { ms: 0, at: Number.NEGATIVE_INFINITY }
  const ms = () => (clock.monotonic() - slowest.at <= COUNTS_MS ? slowest.ms : 0)
  return {
    ms,
    /** The end of one is seen. @param begunAt by the clock that is never set; undefined when it is not known, as after a restart */
    ended(begunAt: number | undefined): void {
      const at = clock.monotonic()
      const taken = at - (begunAt ?? at)
      if (taken >= ms()) slowest = { ms: taken, at }
    },
  }
}
