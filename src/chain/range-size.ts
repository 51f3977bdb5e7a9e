/** How many blocks to ask for at once: fewer when the node or the number of logs says so, more again with time. */
export interface RangeSize {
  current(): number
  /** @param logs how many came with a whole range */
  succeeded(logs: number): void
  /** @returns whether a smaller range is worth a try */
  refused(): boolean
}

const FIRST_SIZE = 2000
const MAX_SIZE = 10_000
/** Logs in one transaction; more would keep others waiting. */
const ENOUGH_LOGS = 2000
const GROWTH = 1.2

/** Builds it, at the size with which most nodes can be asked. */
export function createRangeSize(): RangeSize {
  let size = FIRST_SIZE
  return {
    current: () => size,
    succeeded(logs) {
      size = logs > ENOUGH_LOGS ? half(size) : Math.min(MAX_SIZE, Math.ceil(size * GROWTH))
    },
    refused() {
      const isDivisible = size > 1
      size = half(size)
      return isDivisible
    },
  }
}

function half(size: number): number {
  return Math.max(1, Math.floor(size / 2))
}
