/** When consoles ask their instance, in milliseconds. They differ by chance, so that they do not ask all at once. */

/** While the stream of events is open and brings events of the chain. */
const BUSY_HEALTH_MS = 900_000
/** Without an event: the chain may have stopped, and the connection may be half open. */
const QUIET_HEALTH_MS = 20_000
/** Without a stream, nothing else shows how the instance is. */
const UNFOLLOWED_HEALTH_MS = 10_000
const AFTER_LOSS_MS = 1000
/** A person who uses the console sees nothing older, where no event reports changes. */
const STALE_MS = 60_000
const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15_000

/** What a console knows of its instance. Times are Unix time in milliseconds. */
export interface Signs {
  /** When the last question after the health began; undefined before the first one. */
  readonly askedAt: number | undefined
  /** How many questions after the health have failed since one was answered. */
  readonly failures: number
  /** When the last event of the shown chain came. */
  readonly eventAt: number | undefined
  readonly isFollowing: boolean
  /** When the stream of events was lost; undefined when it never was. */
  readonly lostAt: number | undefined
  /** When a person last used the console. */
  readonly usedAt: number
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

/** When to ask after the health again, Unix time in milliseconds. @param chance from 0 to 1, drawn for each question */
export function healthDueAt(
  { askedAt, failures, eventAt, isFollowing, lostAt, usedAt }: Signs,
  chance: number,
): number {
  if (askedAt === undefined) return 0
  if (failures > 0) return askedAt + retryPause(failures, { chance })
  if (lostAt !== undefined && askedAt < lostAt) return lostAt + AFTER_LOSS_MS * chance
  if (!isFollowing) return askedAt + spread(UNFOLLOWED_HEALTH_MS, chance)
  if (isStaleAt(usedAt, askedAt)) return usedAt
  const lastSignAt = Math.max(askedAt, eventAt ?? 0)
  return Math.min(askedAt + spread(BUSY_HEALTH_MS, chance), lastSignAt + spread(QUIET_HEALTH_MS, chance))
}
