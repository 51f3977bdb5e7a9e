import { BlockNotFoundError } from 'viem'
import type { Head } from './chain-time.js'
import type { SolverChain } from './open-chain.js'

type Block = Pick<Head, 'number' | 'time'>

/** The blocks that are read again although they were read. */
export interface Overlap {
  /** @param last the last block that was read @returns the first block to read @throws viem's errors */
  firstBlock(last: number): Promise<number>
  /** Notes a block that was read. */
  see(block: Block): void
}

/**
 * The least time between the first block that is read again and the last one that was read, in seconds of the chain. A reorganisation
 * may have replaced the blocks, or the node may have shown their logs late.
 */
const OVERLAP_SECONDS = 60
/** A block that is known to be older is not taken, since others are nearer, such as after a stop. */
const LONGEST_SECONDS = 3 * OVERLAP_SECONDS
/** Blocks between the last one and the first that is looked at for its time. */
const FIRST_STEP = 16

export function createOverlap({ client }: Pick<SolverChain, 'client'>): Overlap {
  /** Blocks of which the time is known, the lowest first. */
  let seen: Block[] = []

  /** @returns undefined for a number without a block */
  async function read(number: number): Promise<Block | undefined> {
    try {
      const { timestamp } = await client.getBlock({ blockNumber: BigInt(number) })
      return { number, time: Number(timestamp) }
    } catch (error) {
      if (number > 0 && error instanceof BlockNotFoundError) return undefined
      throw error
    }
  }

  async function timeOf(last: number): Promise<number> {
    for (let number = last; ; number--) {
      const block = seen.findLast((one) => one.number <= number) ?? (await read(number))
      if (block !== undefined) return block.time
    }
  }

  return {
    async firstBlock(last) {
      const latest = (await timeOf(last)) - OVERLAP_SECONDS
      let first = seen.findLast(
        ({ number, time }) => number <= last && time <= latest && time > latest - LONGEST_SECONDS,
      )
      for (let step = FIRST_STEP; first === undefined; step *= 4) {
        const block = await read(Math.max(0, last - step))
        if (block !== undefined && (block.time <= latest || block.number === 0)) first = block
      }
      const { number } = first
      // Lower ones are not needed any more.
      seen = [first, ...seen.filter((block) => block.number > number)]
      return number
    },
    see(block) {
      // Those above have gone with a reorganisation.
      seen = [...seen.filter(({ number }) => number < block.number), block]
    },
  }
}
