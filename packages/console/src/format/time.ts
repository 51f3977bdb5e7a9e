const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago a time was: `4 s ago`. @param ms both Unix times in milliseconds */
export function formatAge(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000)
  if (seconds < 0) return `in ${span(-seconds)}`
  return seconds < 2 ? 'now' : `${span(seconds)} ago`
}

/** A time with its date and the reader's own zone. @param ms Unix time in milliseconds */
export function formatMoment(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' })
}

/** A time of the day with 24 hours and the reader's own zone. @param ms Unix time in milliseconds */
export function formatClock(ms: number): string {
  return new Date(ms).toLocaleTimeString(undefined, { timeStyle: 'long', hourCycle: 'h23' })
}

/** The reader's own zone: `UTC`. */
export const zoneName = () => formatClock(Date.now()).split(' ').slice(1).join(' ')

/** A time on an axis of so many seconds: as much of it as tells the times apart. @param seconds Unix time */
export function formatAxisTime(seconds: number, spanSeconds: number): string {
  const moment = new Date(seconds * 1000)
  if (spanSeconds > DAY) return moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
  const clock = moment.toTimeString()
  return clock.slice(0, spanSeconds > 10 * MINUTE ? 5 : 8)
}

/** A length of time in its largest unit: `12 ms`, `4.2 s`, `14 min`. A dash while it is not known. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  return span(Math.round(ms / 1000))
}

/** A span of time, with its second unit where that counts: `42 s`, `4 min 8 s`, `12 min`, `2 h 37 min`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const [unit, name, part, names] = seconds < HOUR ? [MINUTE, 'min', 1, 's'] : [HOUR, 'h', MINUTE, 'min']
  const [whole, rest] = [Math.floor(seconds / unit), Math.floor((seconds % unit) / part)]
  return whole > 0 && whole < 10 && rest > 0 ? `${whole} ${name} ${rest} ${names}` : span(seconds)
}

function span(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`
  return `${Math.floor(seconds / DAY)} d`
}
