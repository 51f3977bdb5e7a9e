/** Places times on an axis from 0 to a little after the latest one, at most to the deadline: solvers answer in milliseconds. */
interface TimeAxis {
  /** @returns 0 to 1 */
  place(ms: number): number
  /** Labelled times. */
  readonly ticks: readonly number[]
}

const STEPS = 4

/** Makes the axis. @param lastMs the latest time to show */
export function createTimeAxis(lastMs: number, deadlineMs: number): TimeAxis {
  const end = Math.min(Math.max(lastMs * 1.15, 8), deadlineMs)
  const step = niceAbove(end / STEPS)
  const ticks = Array.from({ length: Math.floor(end / step + 0.01) + 1 }, (_, index) => index * step)
  return { place: (ms) => Math.min(1, ms / end), ticks }
}

/** The next number of the series 1, 2, 5, 10, 20, 50 … */
export function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value * 0.999) ?? value
}
