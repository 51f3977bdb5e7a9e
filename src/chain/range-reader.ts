import type { BlockHeader } from '../domain/block.js'
import type { Logger } from '../telemetry/log.js'
import type { BlockRange, BlockReader } from './block-reader.js'
import type { TimedHeader } from './headers.js'
import { IncompleteRangeError } from './range-logs.js'
import { createRangeSize } from './range-size.js'
import { isRpcResponseError, summary } from './rpc-error.js'

/** A range with the header of its first block, whose parent links it to the local chain. */
export interface LinkedRange extends BlockRange {
  readonly first: TimedHeader
}

/**
 * Reads the next range of blocks, from the one after `last` to `maxTo` at most, both included. The node and the number
 * of events limit its size. Throws the reader's error when even a single block fails.
 */
export type ReadRange = (reader: BlockReader, last: BlockHeader, maxTo: number) => Promise<LinkedRange>

/** Builds the reader of a chain's ranges. */
export function createRangeReader(chainId: number, log: Logger): ReadRange {
  const size = createRangeSize()
  return async (reader, last, maxTo) => {
    const from = last.number + 1
    for (;;) {
      const to = Math.min(maxTo, from + size.current() - 1)
      try {
        const [range, first] = await Promise.all([reader.range(from, to), reader.header(from)])
        size.succeeded(range.events.length)
        return { ...range, first }
      } catch (error) {
        const isIncomplete = error instanceof IncompleteRangeError
        if (isIncomplete)
          log.warn({ chainId, from, to }, 'the node left out logs of a range: a smaller range is read')
        else log.debug({ chainId, from, to, reason: summary(error) }, 'the node refused a range')
        if (!size.refused() || !(isIncomplete || isRpcResponseError(error))) throw error
      }
    }
  }
}
