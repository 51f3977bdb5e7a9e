import type { BlockHeader, BlockRef } from '../domain/block.js'
import type { BlockReader } from './block-reader.js'

/** Older blocks of the local chain, for a rollback after all of its last blocks have left the chain. */
export interface Checkpoints {
  add(block: BlockHeader): void
  removeAfter(number: number): void
  /** The blocks before a block, and the block itself; the oldest first. */
  through(block: BlockHeader): readonly [BlockHeader, ...BlockHeader[]]
}

/** Builds the list, empty at first. */
export function createCheckpoints(): Checkpoints {
  let blocks: readonly BlockHeader[] = []
  const below = (number: number) => blocks.filter((block) => block.number < number)
  return {
    add(block) {
      blocks = [...below(block.number), block]
    },
    removeAfter(number) {
      blocks = below(number + 1)
    },
    through(block) {
      const [first = block, ...rest] = [...below(block.number), block]
      return [first, ...rest]
    },
  }
}

/**
 * Finds the last of some blocks that is on the chain of a node. All blocks before such a block are on the chain too, so
 * that each answer rules out half of the blocks.
 * @param blocks the oldest first
 * @returns undefined when all of them have left the chain
 */
export async function findLastOnChain<B extends BlockRef>(
  blocks: readonly B[],
  reader: Pick<BlockReader, 'header'>,
): Promise<B | undefined> {
  let rest = blocks
  let found: B | undefined
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
