/** The number of blocks to request at once. It shrinks after a refusal or too many logs, and grows again later. */
export interface RangeSize {
  current(): number
  /** @param logs number of logs in a complete range */
  succeeded(logs: number): void
  /** @returns whether a smaller range can be tried */
  refused(): boolean
}

const FIRST_SIZE = 500
const MAX_SIZE = 10_000
/** Logs in one transaction. More of them would delay other work. */
const ENOUGH_LOGS = 2000
/** Growth before the first shrinking, and after it. */
const FIRST_GROWTH = 2
const LATER_GROWTH = 1.1

/** Builds the size. It begins with one that any node accepts. */
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
