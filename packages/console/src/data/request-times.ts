/** When consoles ask their instance, in milliseconds. They differ by chance, so that they do not ask all at once. */

/** Without a stream of events, nothing else shows how the instance is. */
const UNFOLLOWED_HEALTH_MS = 10_000
/** A stream that opens within this time reports the health itself. */
const FIRST_HEALTH_MS = 1000
/** A person who uses the console sees nothing older, where no event reports changes. */
const STALE_MS = 60_000
const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15_000

/** What a console without a stream of events knows of its instance. Times are Unix time in milliseconds. */
export interface Signs {
  /** When the last question after the health began; undefined before the first one. */
  readonly askedAt: number | undefined
  /** How many questions have failed since one was answered. */
  readonly failures: number
  /** Since when the console has no stream. */
  readonly missedAt: number
}

/** A pause of 80 to 120 percent. @param chance from 0 to 1 */
export function spread(ms: number, chance = Math.random()): number {
  return ms * (0.8 + 0.4 * chance)
}

/** A pause before the next attempt: half to one and a half of a time that doubles. @param failures at least 1 */
export function retryPause(
  failures: number,
  { firstMs = FIRST_RETRY_MS, longestMs = LONGEST_RETRY_MS, chance = Math.random() } = {},
): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (0.5 + chance)
}

/** Whether a person has used the console when what it shows was old. @param knownAt when that was asked or answered */
export function isStaleAt(usedAt: number, knownAt: number): boolean {
  return usedAt - knownAt >= STALE_MS
}

/** When to ask after the health without a stream of events, Unix time in milliseconds. @param chance from 0 to 1, drawn for each question */
export function healthDueAt({ askedAt, failures, missedAt }: Signs, chance: number): number {
  if (askedAt === undefined || askedAt < missedAt) return missedAt + spread(FIRST_HEALTH_MS, chance)
  return askedAt + (failures > 0 ? retryPause(failures, { chance }) : spread(UNFOLLOWED_HEALTH_MS, chance))
}
