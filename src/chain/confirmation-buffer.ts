import type { BlockHeader } from '../domain/block.js'
import type { EventSink } from '../domain/event-sink.js'
import type { Block, BlockRange } from './block-reader.js'
import type { LocalChain } from './local-chain.js'

/** Holds blocks until they have their confirmations, then moves them into the journal. */
export interface ConfirmationBuffer {
  /** The last block whose events are in the journal. */
  published(): number
  /** Takes note of where the journal stands, as it has been opened; nothing is held any more. */
  reset(number: number): void
  /** Takes the next blocks of the local chain. */
  add(blocks: readonly Block[]): void
  /** Moves the blocks that are held up to a number, each of which must be on `local`, into the journal. */
  publish(local: LocalChain, upTo: number): Promise<void>
  /** Moves blocks into the journal that are old enough not to be held. */
  publishRange(range: BlockRange): Promise<void>
  /** Takes back what is behind a block of the local chain, from the journal as well. */
  truncateAfter(ancestor: BlockHeader): Promise<void>
  /** Takes back what is behind a block that was not known, and goes on from there. */
  restart(root: BlockHeader): Promise<void>
}

interface ConfirmationBufferOptions {
  readonly maxReorgDepth: number
  readonly eventSink: EventSink
  /** Told of each block whose events have been announced. */
  readonly onPublished: (block: Block) => void
}

/** Builds the announcer of one chain. */
export function createConfirmationBuffer(options: ConfirmationBufferOptions): ConfirmationBuffer {
  const { maxReorgDepth, eventSink, onPublished } = options
  /** The blocks that wait for their confirmations. */
  let held: readonly Block[] = []
  let published = 0

  async function revert(to: BlockHeader): Promise<void> {
    await eventSink.revert(to)
    published = to.number
  }

  return {
    published: () => published,
    reset(number) {
      published = number
      held = []
    },
    add(blocks) {
      held = [...held, ...blocks]
    },

    async publish(local, upTo) {
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

    async publishRange({ end, events }) {
      await eventSink.append({ headers: [end], events, keepFrom: end.number })
      published = end.number
    },

    async truncateAfter(ancestor) {
      if (ancestor.number < published) await revert(ancestor)
      held = held.filter(({ header }) => header.number <= ancestor.number)
    },

    async restart(root) {
      await revert(root)
      held = []
    },
  }
}
