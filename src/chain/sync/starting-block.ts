import {
  InconsistentAnswerError,
  type TimedHeader,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockHeader, BlockRef, ChainPosition } from '../../../packages/protocol/src/orders/block.js'
import { type BlockReader, repeatedAs } from '../logs/block-reader.js'
import type { ChainSyncContext } from './context.js'

/**
 * Reads a chain's position from the event log, or begins at START_BLOCK or the head.
 * @returns undefined while START_BLOCK is ahead of the head
 * @throws EventSinkError, and the errors of the reader
 */
type OpenPosition = (reader: BlockReader, head: BlockHeader) => Promise<ChainPosition | undefined>

/** Builds the function for one chain. It warns of a START_BLOCK above the head once. */
export function createOpenPosition({ config, eventSink, log }: ChainSyncContext): OpenPosition {
  const { chainId, settlement, startBlock } = config
  let hasWarned = false

  function warnOfStartBlock(head: BlockHeader): void {
    if (hasWarned) return
    hasWarned = true
    log.warn(
      { chainId, startBlock, headBlock: head.number },
      `START_BLOCK_${chainId} is above the head: no event is published before the chain reaches it`,
    )
  }

  return async (reader, head) => {
    const stored = await eventSink.open()
    if (stored?.settlement === settlement) return stored
    if (startBlock !== undefined && startBlock > head.number + 1) {
      warnOfStartBlock(head)
      return undefined
    }
    if (stored !== undefined)
      log.warn(
        { chainId, was: stored.settlement },
        'the settlement contract has changed: the events of the new one are read from its first block',
      )
    const root = await firstRoot(startBlock, reader, head)
    await eventSink.begin(settlement, root)
    return { settlement, firstBlock: root.number + 1, headers: [root] }
  }
}

/** Placeholder for the parent of block 0. */
const BEFORE_GENESIS: BlockHeader = {
  number: -1,
  hash: `0x${'00'.repeat(32)}`,
  parentHash: `0x${'00'.repeat(32)}`,
}

/**
 * Returns the block after which the first read of a chain begins: the block before START_BLOCK, or the head.
 * @throws InconsistentAnswerError when the head is not on the node's chain
 */
async function firstRoot(
  startBlock: number | undefined,
  reader: BlockReader,
  head: BlockHeader,
): Promise<BlockHeader> {
  if (startBlock === undefined) {
    await assertOnChain(reader, head)
    return head
  }
  return startBlock === 0 ? BEFORE_GENESIS : reader.header(startBlock - 1)
}

interface LostChain {
  /** The oldest known block. It was on the chain. */
  readonly oldest: BlockHeader
  /** Older blocks whose events are in the event log; the oldest first. */
  readonly eventBlocks: readonly BlockRef[]
  /** The first block whose events were read. */
  readonly firstBlock: number
  /** A block of the new chain without a known block before it. */
  readonly fork: BlockHeader
}

/**
 * Returns the block after which a chain is read again when all known blocks have left it. This is the last block with events
 * that is still on the chain, so that every event of a removed block is removed. Without any, it is the block
 * before the first one that was read. A later block would not do, even a final one: the blocks that were read before it may
 * have been those of another fork.
 * @throws InconsistentAnswerError when the node still has the oldest known block on its chain
 */
export async function resyncRoot(
  reader: BlockReader,
  { oldest, eventBlocks, firstBlock, fork }: LostChain,
): Promise<BlockHeader> {
  if ((await findLastOnChain([oldest], reader)) !== undefined)
    throw new InconsistentAnswerError(`block ${fork.number} is not on the chain of block ${oldest.number}`)
  const number = (await findLastOnChain(eventBlocks, reader))?.number ?? firstBlock - 1
  return number < 0 ? BEFORE_GENESIS : reader.header(number)
}

/** @throws InconsistentAnswerError when another block is on the node's chain */
export async function assertOnChain(reader: BlockReader, header: BlockHeader): Promise<void> {
  const onChain = await reader.header(header.number)
  if (onChain.hash !== header.hash)
    throw new InconsistentAnswerError(`block ${header.number} is not on the chain of the node that has it`)
}

/** @throws InconsistentAnswerError when the node gives another block for it */
export async function parentOf(
  reader: BlockReader,
  { number, parentHash }: BlockHeader,
): Promise<TimedHeader> {
  const parent = await reader.headerOf(parentHash)
  if (parent.number === number - 1) return parent
  if (parent.number < number) return repeatedAs(number - 1, parent)
  throw new InconsistentAnswerError(`the node returned another block as the parent of block ${number}`)
}

/**
 * Finds the last of some blocks that is on the chain of a node. All blocks before such a block are on the chain too, so
 * that each answer rules out half of the blocks.
 * @param blocks the oldest first
 * @returns undefined when all of them have left the chain
 */
async function findLastOnChain(
  blocks: readonly BlockRef[],
  reader: BlockReader,
): Promise<BlockRef | undefined> {
  let rest = blocks
  let found: BlockRef | undefined
  for (;;) {
    const middle = Math.floor(rest.length / 2)
    const block = rest[middle]
    if (block === undefined) return found
    // A block below 0 stands for the beginning of every chain.
    const isOnChain = block.number < 0 || (await reader.header(block.number)).hash === block.hash
    if (isOnChain) found = block
    rest = isOnChain ? rest.slice(middle + 1) : rest.slice(0, middle)
  }
}
