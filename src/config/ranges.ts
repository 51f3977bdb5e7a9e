/** The most of anything that is counted. */
export const MAX_COUNT = 1_000_000
export const DAY_MS = 86_400_000
