import type { Clock } from '../../../protocol/src/clock.js'

/** For so many times its own duration, a slow transaction says how long others may take. One outage must not silence a solver for long. */
const COUNTS_TIMES = 5

/** Builds what knows the slowest transaction of late. */
export function createSlowest(clock: Pick<Clock, 'monotonic'>) {
  let slowest = { ms: 0, at: Number.NEGATIVE_INFINITY }
  const ms = () => (clock.monotonic() - slowest.at <= COUNTS_TIMES * slowest.ms ? slowest.ms : 0)
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
