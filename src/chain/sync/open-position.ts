import type { ChainConfig } from '../../config/config.js'
import type { BlockHeader, ChainPosition } from '../../domain/orders/block.js'
import type { EventSink } from '../../domain/orders/event-sink.js'
import type { Logger } from '../../telemetry/log.js'
import type { BlockReader } from '../logs/block-reader.js'
import { firstRoot } from './chain-root.js'

/**
 * Reads a chain's position from the event log, or begins at START_BLOCK or the head.
 * @returns undefined while START_BLOCK is ahead of the head
 * @throws EventSinkError, and the errors of the reader
 */
export type OpenPosition = (reader: BlockReader, head: BlockHeader) => Promise<ChainPosition | undefined>

interface OpenPositionOptions {
  readonly config: Pick<ChainConfig, 'chainId' | 'settlement' | 'startBlock'>
  readonly eventSink: Pick<EventSink, 'open' | 'begin'>
  readonly log: Logger
}

/** Builds the function for one chain. It warns of a START_BLOCK above the head once. */
export function createOpenPosition({ config, eventSink, log }: OpenPositionOptions): OpenPosition {
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
