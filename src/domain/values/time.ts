export const DAY_SECONDS = 86_400
export const DAY_MS = 86_400_000
const HOUR_SECONDS = 3600

/** The hour of a time. @param seconds Unix time in seconds */
export function hourOf(seconds: number): number {
  return Math.floor(seconds / HOUR_SECONDS)
}
