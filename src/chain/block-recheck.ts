import type { BlockHeader } from '../domain/block.js'
import type { EventSink } from '../domain/event-sink.js'
import type { Logger } from '../telemetry/log.js'
import type { Block, BlockReader } from './block-reader.js'
import { blockAt, type LocalChain } from './local-chain.js'
import type { DecodedLogs } from './order-events.js'
import { summary } from './rpc-error.js'

/** Reads blocks again whose logs the node could not prove complete, when it has had time to index them. */
export interface BlockRecheck {
  /**
   * Takes the blocks that a journal ends with. It is not known whether they were proven complete. Older blocks that wait
   * from before go on doing so.
   */
  resume(headers: readonly BlockHeader[]): void
  /** Takes blocks that have been read for the first time. @param headNumber the head at that time */
  add(blocks: readonly Block[], headNumber: number): void
  /**
   * Reads the blocks again that are deep enough by now, and adds the events to the journal that it lacks. A block is
   * read again once; when the node fails, or has another block in its place, that is tried again with later heads.
   * @param announced number of the last block whose events are in the journal: later ones wait
   * @throws what the journal does
   */
  run(reader: BlockReader, local: LocalChain, headNumber: number, published: number): Promise<void>
}

interface BlockRecheckOptions {
  readonly chainId: number
  /** How far below the head a block is read again; 0 reads none. */
  readonly depth: number
  readonly eventSink: Pick<EventSink, 'appendMissing'>
  /** Called with the number of events that the journal had lacked. */
  readonly onLate: (events: number) => void
  /** Receives what is in a block, before the journal does. */
  readonly onLogs: (publisher: DecodedLogs) => void
  readonly log: Logger
}

/** A block that is to be read again. */
interface WaitingBlock {
  readonly header: BlockHeader
  readonly failures: number
}

/** How often the reading of a block may fail. */
const MAX_FAILURES = 30

/** Builds the second reading of one chain. */
export function createBlockRecheck(options: BlockRecheckOptions): BlockRecheck {
  const { chainId, depth, eventSink, onLogs, onLate, log } = options
  let waiting: readonly WaitingBlock[] = []

  async function publishMissing(block: Block): Promise<void> {
    onLogs(block)
    if (block.events.length === 0) return
    const events = await eventSink.appendMissing(block.events)
    if (events === 0) return
    onLate(events)
    const { number } = block.header
    log.warn({ chainId, block: number, events }, 'the node had left out events of a block: announced now')
  }

  /** @returns the block as it waits on, if it does */
  function failed({ header, failures }: WaitingBlock): WaitingBlock[] {
    if (failures < MAX_FAILURES) return [{ header, failures: failures + 1 }]
    log.warn(
      { chainId, block: header.number },
      'a block could not be read for the second time: events that the node had left out of it stay missing',
    )
    return []
  }

  /** Those of some blocks that are on the node's chain, with their logs. */
  async function recheck(
    reader: BlockReader,
    due: readonly WaitingBlock[],
    headNumber: number,
  ): Promise<Block[]> {
    const headers = await Promise.all(due.map(({ header }) => reader.header(header.number)))
    const blocks = await reader.blocks(headers.filter(({ hash }, index) => hash === due[index]?.header.hash))
    const attachSolvers = async (block: Block) => ({
      ...block,
      events: await reader.attachSolvers(block.events, headNumber),
    })
    return Promise.all(blocks.map(attachSolvers))
  }

  return {
    resume(headers) {
      if (depth === 0) return
      const older = waiting.filter(({ header }) => header.number < (headers[0]?.number ?? 0))
      waiting = [...older, ...headers.map((header) => ({ header, failures: 0 }))]
    },
    add(blocks, headNumber) {
      const unproven = blocks.filter(
        ({ header, isProven }) => !isProven && header.number > headNumber - depth,
      )
      waiting = [...waiting, ...unproven.map(({ header }) => ({ header, failures: 0 }))]
    },
    async run(reader, local, headNumber, published) {
      waiting = waiting.filter(({ header }) => mayBeOn(local, header))
      const due = waiting.filter(({ header }) => header.number <= Math.min(headNumber - depth, published))
      if (due.length === 0) return
      const blocks = await recheck(reader, due, headNumber).catch((error) => {
        log.debug({ chainId, reason: summary(error) }, 'blocks could not be read for the second time')
        return []
      })
      for (const block of blocks) await publishMissing(block)
      const read = new Set(blocks.map(({ header }) => header.hash))
      const later = waiting.filter((block) => !due.includes(block))
      waiting = [...due.filter(({ header }) => !read.has(header.hash)).flatMap(failed), ...later]
    },
  }
}

/** Whether a block is on the local chain, or older than that. */
function mayBeOn(local: LocalChain, { number, hash }: BlockHeader): boolean {
  return number < local[0].number || blockAt(local, number)?.hash === hash
}
