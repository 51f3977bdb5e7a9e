import type { BlockHeader } from '../domain/block.js'
import type { Logger } from '../telemetry/log.js'
import type { Journal } from './announcer.js'
import type { Block, BlockReader } from './block-reader.js'
import { blockAt, type LocalChain } from './local-chain.js'
import type { ContractNews } from './order-events.js'
import { summary } from './rpc-error.js'

/** Reads blocks again whose logs the node could not prove complete, when it has had time to index them. */
export interface SecondReading {
  /** Takes the blocks that a journal ends with. It is not known whether they were proven complete. */
  resume(headers: readonly BlockHeader[]): void
  /** Takes blocks that have been read for the first time. @param headNumber the head at that time */
  add(blocks: readonly Block[], headNumber: number): void
  /**
   * Reads the blocks again that are deep enough by now, and adds the events to the journal that it lacks. A block is
   * read again once; when the node fails, it is tried again with later heads until the block is twice as deep.
   * @param announced number of the last block whose events are in the journal: later ones wait
   * @throws what the journal does
   */
  run(reader: BlockReader, local: LocalChain, headNumber: number, announced: number): Promise<void>
}

interface SecondReadingOptions {
  readonly chainId: number
  /** How far below the head a block is read again; 0 reads none. */
  readonly depth: number
  readonly journal: Pick<Journal, 'appendMissing'>
  /** Receives what is in a block, before the journal does. */
  readonly onNews: (news: ContractNews) => void
  readonly log: Logger
}

/** Builds the second reading of one chain. */
export function createSecondReading(options: SecondReadingOptions): SecondReading {
  const { chainId, depth, journal, onNews, log } = options
  let waiting: readonly BlockHeader[] = []

  async function announceMissing(reader: BlockReader, block: Block, headNumber: number): Promise<void> {
    const read = await reader.withSolvers(block.events, headNumber)
    onNews(block)
    if (read.length === 0) return
    const events = await journal.appendMissing(read)
    if (events === 0) return
    const { number } = block.header
    log.warn({ chainId, block: number, events }, 'the node had left out events of a block: announced now')
  }

  async function readAgain(reader: BlockReader, headers: readonly BlockHeader[]): Promise<Block[]> {
    return reader.blocks(await Promise.all(headers.map(({ hash }) => reader.headerOf(hash))))
  }

  return {
    resume(headers) {
      waiting = depth === 0 ? [] : headers.slice(-depth)
    },
    add(blocks, headNumber) {
      const unproven = blocks.filter(
        ({ header, isProven }) => !isProven && header.number > headNumber - depth,
      )
      waiting = [...waiting, ...unproven.map(({ header }) => header)]
    },
    async run(reader, local, headNumber, announced) {
      const isDue = ({ number }: BlockHeader) => number <= Math.min(headNumber - depth, announced)
      // A block that is not on the chain any more needs no second reading.
      waiting = waiting.filter(({ number, hash }) => blockAt(local, number)?.hash === hash)
      const due = waiting.filter(isDue)
      if (due.length === 0) return
      const isWaiting = (header: BlockHeader) => !isDue(header)
      const blocks = await readAgain(reader, due).catch((error) => {
        log.debug({ chainId, reason: summary(error) }, 'blocks could not be read for the second time')
        waiting = waiting.filter((header) => isWaiting(header) || header.number > headNumber - 2 * depth)
      })
      if (blocks === undefined) return
      for (const block of blocks) await announceMissing(reader, block, headNumber)
      waiting = waiting.filter(isWaiting)
    },
  }
}
