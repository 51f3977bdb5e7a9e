import { now } from '../data/clock.js'
import { formatAge, formatMoment } from '../format/time.js'

/** How long ago a time was; the time itself on hover. Clocks of chains may be ahead. @param ms Unix time in milliseconds */
export function Age({ ms }: { readonly ms: number | undefined }) {
  if (ms === undefined) return <span class="muted">–</span>
  return (
    <time class="number" dateTime={new Date(ms).toISOString()} title={formatMoment(ms)}>
      {formatAge(Math.min(ms, now.value), now.value)}
    </time>
  )
}
