import type { Logger } from '../telemetry/log.js'
import type { BlockRange, BlockReader } from './block-reader.js'
import { createRangeSize } from './range-size.js'
import { isNodesOwnAnswer } from './rpc-error.js'

/**
 * Reads the next range of blocks, from one number up to at most another, both included: as many as the node and the
 * number of events allow. Throws what the reader throws when not even one block can be had.
 */
export type ReadRange = (reader: BlockReader, from: number, maxTo: number) => Promise<BlockRange>

/** Builds the reader of a chain's ranges. */
export function createRangeReader(chainId: number, log: Logger): ReadRange {
  const size = createRangeSize()
  return async (reader, from, maxTo) => {
    for (;;) {
      const to = Math.min(maxTo, from + size.current() - 1)
      try {
        const range = await reader.range(from, to)
        size.succeeded(range.events.length)
        return range
      } catch (error) {
        if (!size.refused() || !isNodesOwnAnswer(error)) throw error
        log.debug({ chainId, from, to }, 'the node refuses a range, a smaller one is tried')
      }
    }
  }
}
