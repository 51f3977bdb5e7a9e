import { createRangeSize, isForSize, readRange } from '../../../packages/chain/src/block-ranges.js'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import type { TimedHeader } from '../../../packages/protocol/src/parse-blocks.js'
import type { BlockHeader } from '../../domain/orders/block.js'
import type { Logger } from '../../telemetry/log.js'
import type { BlockRange, BlockReader } from './block-reader.js'
import { IncompleteRangeError } from './range-logs.js'

/** A range with the header of its first block, whose parent links it to the local chain. */
export interface LinkedRange extends BlockRange {
  readonly first: TimedHeader
}

/**
 * Reads the next range of blocks, from the one after `last` to `maxTo` at most, both included. The node and the number
 * of events limit its size. Throws the reader's error when even a single block fails, or when the size is not the reason.
 */
export type ReadRange = (reader: BlockReader, last: BlockHeader, maxTo: number) => Promise<LinkedRange>

const MAX_SIZE = 10_000

/** Builds the reader of a chain's ranges. */
export function createRangeReader(chainId: number, log: Logger): ReadRange {
  const size = createRangeSize(MAX_SIZE)

  function onFailed(error: unknown, from: number, to: number): boolean {
    const isIncomplete = error instanceof IncompleteRangeError
    if (isIncomplete)
      log.warn({ chainId, from, to }, 'the node left out logs of a range: a smaller range is read')
    else log.debug({ chainId, from, to, reason: wordsOf(error) }, 'the node refused a range')
    return isIncomplete || isForSize(error)
  }

  return async (reader, last, maxTo) => {
    const { range } = await readRange(size, {
      from: last.number + 1,
      maxTo,
      async read(from, to) {
        const [read, first] = await Promise.all([reader.range(from, to), reader.header(from)])
        return { ...read, first }
      },
      logsIn: ({ events }) => events.length,
      onFailed,
    })
    return range
  }
}
