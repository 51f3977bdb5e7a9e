import type { TimedHeader } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { Block, BlockReader } from '../logs/block-reader.js'
import { type LocalChain, tipOf } from './local-chain.js'

interface PassedOver {
  readonly blocks: readonly Block[]
  readonly late: readonly TimedHeader[]
}

/** Fewer blocks cost less when they are read one by one. */
const LEAST_BLOCKS = 3
const NO_LOGS = { events: [], bondedSolvers: new Set<never>(), cancelledNonces: [], changedOrders: [] }
const NOTHING: PassedOver = { blocks: [], late: [] }

/**
 * Blocks near the head that are passed over while nobody needs the newest state: one call for the logs of all of them, and one for the
 * link to the known chain. Nothing proves that they have no logs. So they are asked for again with the next ones, once at least, and
 * until they are as deep as blocks are that are read a second time.
 * Builds the list, empty at first. @param depth below the head at which blocks are no longer asked for
 */
export function createPassedBlocks(depth: number) {
  let passed: readonly TimedHeader[] = []

  return {
    /**
     * Asks for the logs of the blocks between the known chain and a head, and again for those of blocks passed over before.
     * @returns the blocks to add, when they have no logs; those to read a second time, because a node had left out their logs
     */
    async ask(reader: BlockReader, local: LocalChain, head: TimedHeader): Promise<PassedOver> {
      const last = tipOf(local)
      const from = last.number + 1
      if (head.number - from < LEAST_BLOCKS) return NOTHING
      const first = Math.min(from, ...passed.map(({ number }) => number))
      // In one request, so that one node answers both.
      const asked = [reader.header(from), reader.blocksWithLogs(first, head.number - 1)] as const
      const answers = await Promise.all(asked).catch(() => undefined)
      if (answers === undefined) return NOTHING
      const [next, found] = answers
      const late = passed.filter(({ number }) => found.includes(number))
      passed = passed.filter((header) => header.number > head.number - depth && !late.includes(header))
      if (next.parentHash !== last.hash || found.some((number) => number >= from)) return { blocks: [], late }
      const headers = Array.from({ length: head.number - from }, (_, index) => {
        const number = from + index
        const hash = number === head.number - 1 ? head.parentHash : last.hash
        return { number, hash, parentHash: last.hash, timestampMs: head.timestampMs }
      })
      passed = [...passed, ...headers]
      return { blocks: headers.map((header) => ({ header, isProven: true, ...NO_LOGS })), late }
    },
    /** Forgets all blocks. @returns those that were to be asked for again */
    take(): readonly TimedHeader[] {
      const headers = passed
      passed = []
      return headers
    },
  }
}
