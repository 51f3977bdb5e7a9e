import { decline } from './decline.js'
import type { SolverMetrics } from './metrics.js'
import type { Quoting } from './quoting.js'

/** So many requests are answered at a time, over all sessions and the endpoint (docs/decisions.md, D23). */
export const MAX_ANSWERS_UNDER_WAY = 64

/** Declines a request at once while too many others are being answered: an instance may send as many as it likes. */
export function limitAnswers(
  quoting: Quoting,
  metrics: Pick<SolverMetrics, 'requests' | 'declined'>,
): Quoting {
  let underWay = 0
  return async (request, signal) => {
    if (underWay >= MAX_ANSWERS_UNDER_WAY) {
      metrics.requests++
      metrics.declined++
      return decline('PAUSED')
    }
    underWay++
    try {
      return await quoting(request, signal)
    } finally {
      underWay--
    }
  }
}
