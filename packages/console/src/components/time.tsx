import { latestNow, now } from '../data/clock.js'
import { formatAge, formatClock, formatMoment, formatSpan } from '../format/time.js'

/** How long ago a time was; the time itself on hover. Clocks of chains may be ahead. @param ms Unix time in milliseconds */
export function Age({ ms }: { readonly ms: number | undefined }) {
  if (ms === undefined) return <span class="muted">–</span>
  return (
    <time class="number" dateTime={new Date(ms).toISOString()} title={formatMoment(ms)}>
      {formatAge(Math.min(ms, now.value), now.value)}
    </time>
  )
}

/** A time with its date and zone. @param seconds Unix time */
export function Moment({ seconds }: { readonly seconds: number }) {
  const ms = seconds * 1000
  return <time dateTime={new Date(ms).toISOString()}>{formatMoment(ms)}</time>
}

/** A deadline by the clock, with what is left of it. @param seconds Unix time */
export function Deadline({ seconds }: { readonly seconds: number }) {
  const ms = seconds * 1000
  const leftMs = ms - latestNow.value
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatMoment(ms)}>
      {formatClock(ms)}
      {leftMs > 0 && ` (in ${formatSpan(leftMs)})`}
    </time>
  )
}
