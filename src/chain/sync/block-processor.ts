import {
  InconsistentAnswerError,
  type TimedHeader,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import type { Block, BlockReader, LinkedRange } from '../logs/block-reader.js'
import { createBlockRecheck } from './block-recheck.js'
import { createConfirmationBuffer } from './confirmation-buffer.js'
import type { ChainSyncContext } from './context.js'
import { extend, type LocalChain, reconcile, tipOf, truncateAfter } from './local-chain.js'
import { assertOnChain, createOpenPosition, parentOf, resyncRoot } from './starting-block.js'

/** Whether blocks were only added, or known blocks were also removed with their events. */
export type Outcome = 'added' | 'removed'

/** Keeps the last known blocks of a chain and its event log, and changes both together. */
export type BlockProcessor = ReturnType<typeof createBlockProcessor>

/** Blocks with events that are searched for one on the chain. When none of them is, all events are read again. */
const MAX_EVENT_BLOCKS = 10_000

/**
 * Builds the processor of one chain's blocks.
 * @param onMoved called when the known blocks have changed, before the listener hears of it
 */
export function createBlockProcessor(context: ChainSyncContext, onMoved: () => void) {
  const { maxReorgDepth, eventSink, listener, log } = context
  const { chainId, confirmations, recheckBlocks } = context.config
  // One more block, so that the block before the deepest reorganisation is known.
  const keptBlocks = maxReorgDepth + confirmations + 1
  let chain: LocalChain | undefined
  let firstBlock = 0
  let hasRemoved = false
  const openPosition = createOpenPosition(context)
  const confirmationBuffer = createConfirmationBuffer(maxReorgDepth, eventSink, listener.onPublished)
  const blockRecheck = createBlockRecheck(context, Math.min(recheckBlocks, keptBlocks - 1))

  function knownBlocks(): LocalChain {
    if (chain === undefined) throw new Error(`chain ${chainId} has not been opened`)
    return chain
  }

  async function place(
    reader: BlockReader,
    local: LocalChain,
    headers: readonly TimedHeader[],
  ): Promise<Outcome> {
    const [first] = headers
    if (first === undefined) return 'added'
    const step = reconcile(local, first)
    switch (step.kind) {
      case 'append':
        append(local, await reader.blocks(headers))
        return 'added'
      case 'reorganisation': {
        // The node may have left the fork of this head. The old events stay until the new ones have been read.
        const reading = reader.blocks(headers, true)
        const [blocks] = await Promise.all([reading, assertOnChain(reader, first), reader.verifyChainId()])
        append(await rollBack(local, step.ancestor), blocks)
        return 'removed'
      }
      case 'fork':
        return place(reader, local, [await parentOf(reader, first), ...headers])
      case 'lost':
        await reader.verifyChainId()
        await resync(reader, local, first)
        return 'removed'
      case 'known':
      case 'gap':
        throw new Error(`block ${first.number} is ${step.kind}, after block ${tipOf(local).number}`)
    }
  }

  function moveTo(next: LocalChain | undefined): void {
    chain = next
    onMoved()
  }

  function append(local: LocalChain, blocks: readonly Block[]): void {
    const headers = blocks.map(({ header }) => header)
    const extended = extend(local, headers, keptBlocks)
    moveTo(extended)
    confirmationBuffer.add(blocks)
    blockRecheck.add(blocks, tipOf(extended).number)
    for (const block of blocks) listener.onLogs(block)
  }

  function countRemoval(): void {
    if (hasRemoved) throw new InconsistentAnswerError('the chain changed again during the read')
    hasRemoved = true
  }

  async function rollBack(local: LocalChain, ancestor: BlockHeader): Promise<LocalChain> {
    countRemoval()
    const depth = tipOf(local).number - ancestor.number
    log.warn({ chainId, depth, ancestor: ancestor.number }, 'the chain has been reorganised')
    await confirmationBuffer.truncateAfter(ancestor)
    const kept = truncateAfter(local, ancestor)
    moveTo(kept)
    listener.onReorganisation()
    return kept
  }

  /** Handles a fork before all known blocks: goes back to a block that is still on the chain. */
  async function resync(reader: BlockReader, local: LocalChain, fork: BlockHeader): Promise<void> {
    const [oldest] = local
    const eventBlocks = await eventSink.eventBlocks(oldest.number, MAX_EVENT_BLOCKS)
    const root = await resyncRoot(reader, { oldest, eventBlocks, firstBlock, fork })
    countRemoval()
    log.error(
      { chainId, maxReorgDepth, from: root.number + 1 },
      'a reorganisation deeper than MAX_REORG_DEPTH: all events after that block are removed and read again',
    )
    await confirmationBuffer.restart(root)
    moveTo([root])
    listener.onReorganisation()
  }

  return {
    /** The known blocks. @throws Error before `open` has returned them */
    chain: knownBlocks,
    /** The last known block; undefined before `open` has returned blocks. */
    last: (): BlockHeader | undefined => chain && tipOf(chain),
    /** The last block whose events are in the event log. */
    published: (): number | undefined => chain && confirmationBuffer.published(),

    /**
     * Reads the last known blocks from the event log, or begins at START_BLOCK or the head. Does nothing when the blocks
     * are open and no write has failed.
     * @returns the known blocks; undefined while START_BLOCK is ahead of the head
     */
    async open(reader: BlockReader, head: BlockHeader): Promise<LocalChain | undefined> {
      if (chain !== undefined && eventSink.isOpen()) return chain
      const position = await openPosition(reader, head)
      const isFirst = chain === undefined
      if (position !== undefined) {
        firstBlock = position.firstBlock
        confirmationBuffer.reset(tipOf(position.headers).number)
        blockRecheck.resume(position.headers.filter(({ number }) => number >= firstBlock))
      }
      moveTo(position?.headers)
      if (!isFirst) listener.onReopened()
      return position?.headers
    },

    /** Begins a pass. A pass removes blocks at most once. */
    beginPass(): void {
      hasRemoved = false
    },

    /**
     * Adds linked headers with the events of their blocks, after it has removed the known blocks that they replace. Then it
     * publishes the confirmed events.
     * @throws InconsistentAnswerError when the node contradicts itself, and ChainConfigError when it serves another chain; it
     * removes nothing in these cases
     */
    async add(reader: BlockReader, headers: readonly TimedHeader[]): Promise<Outcome> {
      const outcome = await place(reader, knownBlocks(), headers)
      const local = knownBlocks()
      // A head confirms only its known ancestors.
      await confirmationBuffer.publish(local, tipOf(local).number - confirmations)
      return outcome
    },

    /** Adds a range that follows the last known block and is too old to change, and publishes it. */
    async addRange(range: LinkedRange): Promise<void> {
      await confirmationBuffer.publish(knownBlocks(), tipOf(knownBlocks()).number)
      await confirmationBuffer.publishRange(range)
      moveTo([range.end])
      listener.onLogs(range)
    },

    /**
     * Reads blocks again that the node could not prove complete, and publishes the missing events.
     * @param lastNumber the last block, which may not be added yet @throws EventSinkError
     */
    recheck: (reader: BlockReader, lastNumber: number): Promise<void> =>
      blockRecheck.run(reader, knownBlocks(), lastNumber, confirmationBuffer.published()),
  }
}
