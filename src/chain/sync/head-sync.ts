import { createRangeSize, isForSize, readRange } from '../../../packages/chain/src/block-ranges.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import type { Logger } from '../../telemetry/log.js'
import type { BlockReader, LinkedRange } from '../logs/block-reader.js'
import { IncompleteRangeError } from '../logs/range-logs.js'
import type { BlockProcessor, Outcome } from './block-processor.js'
import type { ChainSyncContext } from './context.js'
import { blockAt, type LocalChain, reconcile, tipOf } from './local-chain.js'

/** Keeps the local chain and the event log up to date with a chain. */
export type HeadSync = ReturnType<typeof createHeadSync>

/** One call of `follow`; it may take long. */
interface Run {
  readonly signal: AbortSignal
  /** Called each time the local chain has moved and its confirmed events have been written. */
  readonly onProgress: () => void
  /** Called when the run begins a backfill. */
  readonly onBackfill: () => void
}

/** Blocks that are read at once near the head. */
const STEP_BLOCKS = 25
/** How often in a row a lower head on another fork must be seen before it is followed. One such head may be a lag. */
const LOWER_FORK_SIGHTINGS = 3

/** Builds the head sync of one chain. */
export function createHeadSync({ config, maxReorgDepth, log }: ChainSyncContext, blocks: BlockProcessor) {
  /** Blocks up to this depth can still change or are not confirmed, so they are read one by one. */
  const liveDepth = maxReorgDepth + config.confirmations
  const readRange = createRangeReader(config.chainId, log)
  let lowerForkSightings = 0
  let isBackfilling = false

  /** Reads the blocks up to a head, or until a rollback. */
  async function reach(reader: BlockReader, head: TimedHeader, run: Run): Promise<Outcome> {
    const isFar = head.number - tipOf(blocks.chain()).number > liveDepth
    if (isFar && (await backfill(reader, head, run)) === 'removed') return 'removed'
    isBackfilling = false
    return catchUp(reader, head, run)
  }

  /** Reads ranges down to the depth at which blocks are read one by one. */
  async function backfill(reader: BlockReader, head: TimedHeader, run: Run): Promise<Outcome> {
    isBackfilling = true
    run.onBackfill()
    for (;;) {
      run.signal.throwIfAborted()
      const last = tipOf(blocks.chain())
      if (head.number - last.number <= liveDepth) return 'added'
      const range = await readRange(reader, last, head.number - liveDepth)
      // The first block of a chain may name any parent.
      const isLinked = last.number < 0 || range.first.parentHash === last.hash
      if (isLinked) {
        const events = await reader.attachOrders(range.events)
        // After a range, the event log keeps no earlier blocks, so that a restart could not read them again.
        await blocks.recheck(reader, range.end.number)
        await blocks.addRange({ ...range, events })
      } else await blocks.add(reader, [range.first])
      run.onProgress()
      if (!isLinked) return 'removed'
    }
  }

  /** Reads blocks one by one up to a head. */
  async function catchUp(reader: BlockReader, head: TimedHeader, run: Run): Promise<Outcome> {
    for (;;) {
      run.signal.throwIfAborted()
      const step = reconcile(blocks.chain(), head)
      if (step.kind === 'known') return 'added'
      const headers =
        step.kind === 'gap'
          ? await reader.headers(step.from, Math.min(step.to, step.from + STEP_BLOCKS - 1))
          : [head]
      const outcome = await blocks.add(reader, headers)
      run.onProgress()
      if (outcome === 'removed') return outcome
    }
  }

  /** Whether a head is known already, or is a lower head that is not believed yet. */
  function isLower(known: LocalChain, head: BlockHeader): boolean {
    const last = tipOf(known)
    if (head.number >= last.number) {
      lowerForkSightings = 0
      return false
    }
    const at = blockAt(known, head.number)
    const isKnown = at === undefined || at.hash === head.hash
    lowerForkSightings = isKnown ? 0 : lowerForkSightings + 1
    return isKnown || lowerForkSightings < LOWER_FORK_SIGHTINGS
  }

  return {
    /** Whether it reads ranges, because the head is far above the last block. */
    isBackfilling: (): boolean => isBackfilling,

    /**
     * Reads and publishes the blocks up to a head. After a failure, published events stay, and the next call continues
     * from there. After a rollback, the pass reads the head again; a second rollback in one pass fails.
     * @returns `lower` when the head is older than the known blocks
     * @throws EventSinkError, and the errors of the reader
     */
    async follow(reader: BlockReader, head: TimedHeader, run: Run): Promise<'followed' | 'lower'> {
      const known = await blocks.open(reader, head)
      if (known === undefined) return 'followed'
      if (isLower(known, head)) return 'lower'
      blocks.beginPass()
      let target = head
      // The reorganisation that has replaced blocks may have replaced the head as well.
      while ((await reach(reader, target, run)) === 'removed') target = await reader.head()
      await blocks.recheck(reader, tipOf(blocks.chain()).number)
      return 'followed'
    },
  }
}

const MAX_SIZE = 10_000

/** Builds the reader of a chain's ranges. */
function createRangeReader(chainId: number, log: Logger) {
  const size = createRangeSize(MAX_SIZE)

  function onFailed(error: unknown, from: number, to: number): boolean {
    const isIncomplete = error instanceof IncompleteRangeError
    if (isIncomplete)
      log.warn({ chainId, from, to }, 'the node left out logs of a range: a smaller range is read')
    else log.debug({ chainId, from, to, reason: wordsOf(error) }, 'the node refused a range')
    return isIncomplete || isForSize(error)
  }

  /**
   * Reads the next range of blocks, from the one after `last` to `maxTo` at most, both included. The node and the number
   * of events limit its size. Throws the reader's error when even a single block fails, or when the size is not the reason.
   */
  return async (reader: BlockReader, last: BlockHeader, maxTo: number): Promise<LinkedRange> => {
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
