import type { BlockHeader, EventWithPosition } from '../../src/domain/block.js'
import type { LogEntry, StreamEvent } from '../../src/domain/event.js'
import type { EventStore } from '../../src/store/event-store.js'
import type { LeaderEpoch } from '../../src/store/leader-epochs.js'
import type { Random } from '../random.js'
import { header, SETTLEMENT, settled } from './event-samples.js'

/** A block of a reader's chain, and what happened in it. */
interface Block {
  readonly header: BlockHeader
  readonly events: readonly EventWithPosition[]
}

const START = header(10, 'start')
const MAX_EVENTS = 3
const MAX_DEPTH = 5

/**
 * A reader of a chain that goes on at random: blocks come, and are taken back. What it has been told is right, it
 * remembers by itself.
 * @param name its blocks are told from those of other readers by it
 */
export function createRacingReader(store: EventStore, name: string, random: Random) {
  let term: LeaderEpoch | undefined
  let blocks: Block[] = []
  let count = 0
  const told: LogEntry[] = []

  function held(): LeaderEpoch {
    if (term === undefined) throw new Error('no term was ever begun')
    return term
  }

  async function takeOver(chainId: number): Promise<LeaderEpoch> {
    term = await store.takeOver(chainId)
    return term
  }

  async function begin(): Promise<void> {
    await store.begin(held(), SETTLEMENT, START)
    blocks = [{ header: START, events: [] }]
  }

  async function append(): Promise<void> {
    const parent = blocks.at(-1)?.header ?? START
    const branch = `${name}-${++count}-`
    const number = parent.number + 1
    const events = Array.from({ length: random.integer(0, MAX_EVENTS) }, (_, logIndex) =>
      settled(held().chainId, number, logIndex, branch),
    )
    const block = { header: { ...header(number, branch), parentHash: parent.hash }, events }
    const entries = await store.append(held(), { headers: [block.header], events, keepFrom: 0 })
    blocks.push(block)
    told.push(...entries)
  }

  async function revert(): Promise<void> {
    const left = Math.max(1, blocks.length - random.integer(0, MAX_DEPTH))
    const ancestor = blocks[left - 1]?.header ?? START
    const entries = await store.revert(held(), ancestor)
    blocks = blocks.slice(0, left)
    told.push(...entries)
  }

  return {
    takeOver,
    begin,
    append,
    revert,
    /** Does one thing or the other. */
    step: () => (random.integer(1, 4) === 1 ? revert() : append()),
    /** What it was told, in order. */
    told: told as readonly LogEntry[],
    /** The chain as it knows it. */
    blocks: () => blocks as readonly Block[],
    headers: () => blocks.map(({ header }) => header),
    /** Takes another's word for the chain. */
    learn(known: readonly Block[]) {
      blocks = [...known]
    },
  }
}

export type RacingReader = ReturnType<typeof createRacingReader>

/** The events of these blocks, as they stand. */
export function eventsOf(blocks: readonly Block[]): StreamEvent[] {
  return blocks.flatMap(({ events }) => events.map(({ event }) => event))
}

/** What stands of a log: its events without those that it takes back. */
export function standingOf(log: readonly LogEntry[], chainId: number): StreamEvent[] {
  const standing = new Map<string, StreamEvent>()
  for (const { event } of log.filter(({ event }) => event.chainId === chainId)) {
    if (event.type !== 'Reverted') standing.set(event.orderId, event)
    else if (!standing.delete(event.orderId)) throw new Error(`${event.orderId} does not stand`)
  }
  return [...standing.values()]
}

/**
 * Follows a log from its beginning until it is stopped, page by page.
 * @returns `stop`, which gives all that was read, once it is read to the end
 */
export function follow(store: EventStore, pageSize = 7) {
  const read: LogEntry[] = []
  let isStopped = false
  const reading = (async () => {
    for (;;) {
      const wasStopped = isStopped
      const page = await store.readAfter(read.at(-1)?.sequence ?? 0, pageSize)
      read.push(...page)
      if (wasStopped && page.length === 0) return read
    }
  })()
  return {
    stop() {
      isStopped = true
      return reading
    },
  }
}
