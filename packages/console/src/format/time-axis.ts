/** Places times on an axis from 0 to the deadline. */
export interface TimeAxis {
  /** @returns 0 to 1 */
  place(ms: number): number
  /** Labelled times before the deadline. */
  readonly ticks: readonly number[]
  /** The last time that is shown to scale. */
  readonly lastMs: number
  /** Whether the time before the deadline is left out, because nothing happened in it. */
  readonly isBroken: boolean
}

/** Where the deadline of a broken axis leaves room for what came before. */
const BREAK_AT = 0.86
const STEPS = 4

/**
 * Makes the axis. Solvers answer in milliseconds and deadlines last seconds: then the axis shows the first part in detail, and
 * jumps to the deadline.
 * @param lastMs the latest time to show
 */
export function createTimeAxis(lastMs: number, deadlineMs: number): TimeAxis {
  const end = Math.max(lastMs * 1.15, 8)
  if (end >= deadlineMs * 0.6) {
    return {
      place: (ms) => Math.min(1, ms / deadlineMs),
      ticks: ticksTo(deadlineMs).filter((ms) => ms < deadlineMs * 0.95),
      lastMs: deadlineMs,
      isBroken: false,
    }
  }
  return {
    place: (ms) => (ms > end ? 1 : (ms / end) * BREAK_AT),
    ticks: ticksTo(end),
    lastMs: end,
    isBroken: true,
  }
}

function ticksTo(end: number): number[] {
  const step = niceAbove(end / STEPS)
  return Array.from({ length: Math.floor(end / step + 0.01) + 1 }, (_, index) => index * step)
}

/** The next number of the series 1, 2, 5, 10, 20, 50 … */
export function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value * 0.999) ?? value
}
