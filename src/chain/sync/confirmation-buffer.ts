import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import type { EventSink } from '../event-sink.js'
import type { Block, BlockRange } from '../logs/block-reader.js'
import type { LocalChain } from './local-chain.js'

/**
 * Builds the buffer that holds the blocks of one chain until they have their confirmations, and then publishes their events.
 * @param onPublished called with each block after its events were published
 */
export function createConfirmationBuffer(
  maxReorgDepth: number,
  eventSink: EventSink,
  onPublished: (block: Block) => void,
) {
  /** The blocks that wait for their confirmations. */
  let held: readonly Block[] = []
  let published = 0

  async function revert(to: BlockHeader): Promise<void> {
    await eventSink.revert(to)
    published = to.number
  }

  return {
    /** Number of the last block whose events are published. */
    published: (): number => published,
    /** Sets the number of the last published block, after the event sink was opened. Removes all held blocks. */
    reset(number: number): void {
      published = number
      held = []
    },
    /** Adds the next blocks of the local chain. */
    add(blocks: readonly Block[]): void {
      held = [...held, ...blocks]
    },

    /** Publishes the held blocks up to a number. Each of them must be on `local`. */
    async publish(local: LocalChain, upTo: number): Promise<void> {
      const isReady = ({ header }: Block) => header.number <= upTo
      const ready = held.filter(isReady)
      const last = ready.at(-1)?.header
      if (last === undefined) return
      const keepFrom = Math.max(local[0].number, last.number - maxReorgDepth)
      const kept = ready.map(({ header }) => header).filter(({ number }) => number >= keepFrom)
      const [first = last, ...rest] = kept
      const events = ready.flatMap((block) => block.events)
      await eventSink.append({ headers: [first, ...rest], events, keepFrom })
      published = last.number
      held = held.filter((block) => !isReady(block))
      for (const block of ready) onPublished(block)
    },

    /** Publishes blocks that are too old to be held. */
    async publishRange({ end, events }: BlockRange): Promise<void> {
      await eventSink.append({ headers: [end], events, keepFrom: end.number })
      published = end.number
    },

    /** Removes the blocks after a block of the local chain, and reverts their published events. */
    async truncateAfter(ancestor: BlockHeader): Promise<void> {
      if (ancestor.number < published) await revert(ancestor)
      held = held.filter(({ header }) => header.number <= ancestor.number)
    },

    /** Removes the blocks after a block that is not on the local chain, and continues from it. */
    async restart(root: BlockHeader): Promise<void> {
      await revert(root)
      held = []
    },
  }
}
