import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import { EventSinkError } from '../event-sink.js'
import type { Block, BlockReader } from '../logs/block-reader.js'
import type { ChainSyncContext } from './context.js'
import { blockAt, type LocalChain } from './local-chain.js'

/** A block that waits for its second reading. */
interface WaitingBlock {
  readonly header: BlockHeader
  readonly failures: number
}

/** Number of times that the second reading of a block may fail. */
const MAX_FAILURES = 30

/**
 * Builds the second reading of one chain's blocks: of those whose logs the node did not prove complete, after it has had time to index them.
 * @param depth below the last block at which a block is read again; 0 reads no block again
 */
export function createBlockRecheck({ config, eventSink, listener, log }: ChainSyncContext, depth: number) {
  const { chainId } = config
  let waiting: readonly WaitingBlock[] = []

  async function publishMissing(block: Block): Promise<void> {
    listener.onLogs(block)
    if (block.events.length === 0) return
    const events = await eventSink.appendMissing(block.events)
    if (events === 0) return
    listener.onLate(events)
    const { number } = block.header
    log.warn(
      { chainId, block: number, events },
      'the node had left out events of a block: they are published now',
    )
  }

  /** @returns the block while it has attempts left */
  function failed({ header, failures }: WaitingBlock): WaitingBlock[] {
    if (failures < MAX_FAILURES) return [{ header, failures: failures + 1 }]
    log.warn(
      { chainId, block: header.number },
      'the second reading of a block keeps failing: events that the node has left out stay missing',
    )
    return []
  }

  /** The blocks that are on the node's chain, with their logs. */
  async function recheck(reader: BlockReader, due: readonly WaitingBlock[]): Promise<Block[]> {
    const headers = await Promise.all(due.map(({ header }) => reader.header(header.number)))
    return reader.blocks(headers.filter(({ hash }, index) => due[index]?.header.hash === hash))
  }

  return {
    /**
     * Takes the last blocks of the stored position. Whether they were proved complete is not known. Older blocks keep
     * waiting.
     */
    resume(headers: readonly BlockHeader[]): void {
      if (depth === 0) return
      const older = waiting.filter(({ header }) => header.number < (headers[0]?.number ?? 0))
      waiting = [...older, ...headers.map((header) => ({ header, failures: 0 }))]
    },
    /** Takes blocks that have been read for the first time. @param lastNumber the last of them */
    add(blocks: readonly Block[], lastNumber: number): void {
      const unproven = blocks.filter(
        ({ header, isProven }) => !isProven && header.number > lastNumber - depth,
      )
      waiting = [...waiting, ...unproven.map(({ header }) => ({ header, failures: 0 }))]
    },
    /**
     * Reads the blocks again that are deep enough, and publishes the events that the log lacks. Each block is read again
     * once. When the node fails or has another block at that number, a later block tries it again.
     * @param published number of the last block whose events are published; later blocks wait
     * @throws EventSinkError, also of the reader
     */
    async run(reader: BlockReader, local: LocalChain, lastNumber: number, published: number): Promise<void> {
      waiting = waiting.filter(({ header }) => mayBeOn(local, header))
      const due = waiting.filter(({ header }) => header.number <= Math.min(lastNumber - depth, published))
      if (due.length === 0) return
      const blocks = await recheck(reader, due).catch((error) => {
        // The database says nothing of the node, so it takes no attempt away.
        if (error instanceof EventSinkError) throw error
        log.debug({ chainId, reason: wordsOf(error) }, 'the second reading of blocks failed')
        return []
      })
      for (const block of blocks) await publishMissing(block)
      const read = new Set(blocks.map(({ header }) => header.number))
      const later = waiting.filter((block) => !due.includes(block))
      waiting = [...due.filter(({ header }) => !read.has(header.number)).flatMap(failed), ...later]
    },
  }
}

/** Whether a block is on the local chain or older than it. */
function mayBeOn(local: LocalChain, { number, hash }: BlockHeader): boolean {
  return number < local[0].number || blockAt(local, number)?.hash === hash
}
