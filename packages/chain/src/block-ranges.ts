import { namesRate, rpcErrorIn } from './json-rpc.js'

/** The number of blocks to request at once, as far as a node's answers show (docs/decisions.md, D22). */
export type RangeSize = ReturnType<typeof createRangeSize>

/** Most nodes accept it. */
const FIRST_SIZE = 500
/** Logs in one transaction of the database. More of them would delay other work. */
const ENOUGH_LOGS = 2000
/** Good ranges until a larger one is tried, after a smaller one was needed. */
const GOOD_RANGES = 10
const MAX_FAILURES = 8
/** After such failures, each of which may cost a pause, a larger range is tried seldom. */
const GOOD_RANGES_AFTER_FAILURES = 1000

/** Builds the size. Before the first refusal, each good range doubles it. @param max the largest size */
export function createRangeSize(max: number) {
  let size = Math.min(FIRST_SIZE, max)
  /** What the last good range had. */
  let lastGood = size
  let goodRanges = 0
  let rangesToGrow = 1
  let failures = 0

  function shrink(blocks: number): void {
    size = Math.max(1, Math.floor(blocks / 2))
    goodRanges = 0
    rangesToGrow = GOOD_RANGES
  }

  return {
    current: (): number => size,
    /** Notes a complete range. @param blocks its number of blocks @param logs the number of its logs */
    succeeded(blocks: number, logs: number): void {
      failures = 0
      if (logs > ENOUGH_LOGS) shrink(blocks)
      if (logs > ENOUGH_LOGS || blocks < size) return
      lastGood = size
      goodRanges++
      if (goodRanges < rangesToGrow) return
      size = Math.min(max, size * 2)
      goodRanges = 0
    },
    /** Notes that a range of so many blocks failed for its size. @returns whether a smaller one can be tried */
    refused(blocks: number): boolean {
      shrink(blocks)
      if (blocks > 1) return true
      // It was not for the size.
      size = lastGood
      return false
    },
    /** Notes that one failed for a reason that says nothing of its size. Gateways may word a refusal so, so that the eighth one in a row counts. */
    failed(blocks: number): void {
      failures = (failures + 1) % MAX_FAILURES
      if (failures > 0) return
      shrink(blocks)
      rangesToGrow = GOOD_RANGES_AFTER_FAILURES
    },
  }
}

/**
 * Whether a range of blocks may have failed for its size. A limit of rates and a lost connection say nothing of it. A code for limits that
 * comes without a word of rates may mean the size.
 */
export function isForSize(error: unknown): boolean {
  const found = rpcErrorIn(error)
  if (found === undefined) return false
  if (found.isRateLimit) return found.answer !== undefined && !namesRate(found)
  return found.kind !== 'lost' || found.isTimeout
}

/** Whether a call was sent, and failed at the node or on the way. */
function isAnswer(error: unknown): boolean {
  const { kind, status, answer } = rpcErrorIn(error) ?? {}
  return kind === 'lost' || status !== undefined || answer !== undefined
}

interface RangeRead<T> {
  /** The first block. */
  readonly from: number
  /** The last block at most. */
  readonly maxTo: number
  /** Reads one range, both ends included. */
  readonly read: (from: number, to: number) => Promise<T>
  readonly logsIn: (range: T) => number
  /** Called before a smaller range is read. @returns whether it may be */
  readonly onFailed?: (error: unknown, from: number, to: number) => boolean
}

/**
 * Reads the longest range of blocks from one on that the node gives. A range that fails for its size is read again with half of the
 * blocks.
 * @throws what `read` throws: wait then, and call again; also when a single block fails, and for each failure of another kind
 */
export async function readRange<T>(
  size: RangeSize,
  { from, maxTo, read, logsIn, onFailed = isForSize }: RangeRead<T>,
): Promise<{ readonly to: number; readonly range: T }> {
  for (;;) {
    const to = Math.min(maxTo, from + size.current() - 1)
    try {
      const range = await read(from, to)
      size.succeeded(to - from + 1, logsIn(range))
      return { to, range }
    } catch (error) {
      const blocks = to - from + 1
      if (onFailed(error, from, to)) {
        if (size.refused(blocks)) continue
      } else if (isAnswer(error)) size.failed(blocks)
      throw error
    }
  }
}
