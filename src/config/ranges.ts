/** Upper limit of all variables that are counts. */
export const MAX_COUNT = 1_000_000
