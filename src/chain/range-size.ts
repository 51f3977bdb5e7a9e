/** How many blocks to ask for at once: fewer when the node or the number of logs says so, more again with time. */
export interface RangeSize {
  current(): number
  /** @param logs how many came with a whole range */
  succeeded(logs: number): void
  /** @returns whether a smaller range is worth a try */
  refused(): boolean
}

const FIRST_SIZE = 500
const MAX_SIZE = 10_000
/** Logs in one transaction; more would keep others waiting. */
const ENOUGH_LOGS = 2000
/** How fast it grows before anything was too much, and after. */
const FIRST_GROWTH = 2
const LATER_GROWTH = 1.1

/** Builds it, at a size with which any node can be asked. */
export function createRangeSize(): RangeSize {
  let size = FIRST_SIZE
  let growth = FIRST_GROWTH

  function shrink(): void {
    size = Math.max(1, Math.floor(size / 2))
    growth = LATER_GROWTH
  }

  return {
    current: () => size,
    succeeded(logs) {
      if (logs > ENOUGH_LOGS) shrink()
      else size = Math.min(MAX_SIZE, Math.ceil(size * growth))
    },
    refused() {
      const isDivisible = size > 1
      shrink()
      return isDivisible
    },
  }
}
