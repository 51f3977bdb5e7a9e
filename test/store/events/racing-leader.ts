import type { BlockHeader, EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { LogEntry, StreamEvent } from '../../../packages/protocol/src/orders/event.js'
import type { FencingToken } from '../../../src/store/events/chain-positions.js'
import type { EventStore, Takeover } from '../../../src/store/events/event-store.js'
import type { Random } from '../../support/random.js'
import { header, SETTLEMENT, settled } from './event-samples.js'

/** A block of a leader's chain with its events. */
interface Block {
  readonly header: BlockHeader
  readonly events: readonly EventWithPosition[]
}

const START = header(10, 'start')
const MAX_EVENTS = 3
const MAX_DEPTH = 5

/**
 * The leader of a chain that changes at random: blocks are added and removed. It remembers the entries that it received.
 * @param name distinguishes its blocks from those of other leaders
 */
export function createRacingLeader(store: EventStore, name: string, random: Random) {
  let token: FencingToken | undefined
  let blocks: Block[] = []
  let count = 0
  const received: LogEntry[] = []

  function held(): FencingToken {
    if (token === undefined) throw new Error('it has no token')
    return token
  }

  async function takeOver(chainId: number): Promise<Takeover> {
    const takeover = await store.takeOver(chainId)
    token = takeover
    return takeover
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
    received.push(...entries)
  }

  async function revert(): Promise<void> {
    const left = Math.max(1, blocks.length - random.integer(0, MAX_DEPTH))
    const ancestor = blocks[left - 1]?.header ?? START
    const entries = await store.revert(held(), ancestor)
    blocks = blocks.slice(0, left)
    received.push(...entries)
  }

  return {
    takeOver,
    begin,
    append,
    revert,
    /** Appends or reverts, at random. */
    step: () => (random.integer(1, 4) === 1 ? revert() : append()),
    /** The entries that it received, in order. */
    received: received as readonly LogEntry[],
    /** Its chain. */
    blocks: () => blocks as readonly Block[],
    headers: () => blocks.map(({ header }) => header),
    /** Sets its chain to that of another leader. */
    learn(known: readonly Block[]) {
      blocks = [...known]
    },
  }
}

export type RacingLeader = ReturnType<typeof createRacingLeader>

/** The events of some blocks. */
export function eventsOf(blocks: readonly Block[]): StreamEvent[] {
  return blocks.flatMap(({ events }) => events.map(({ event }) => event))
}

/** The canonical events of a log: those without a reversion. */
export function canonicalEvents(log: readonly LogEntry[], chainId: number): StreamEvent[] {
  const canonical = new Map<string, StreamEvent>()
  for (const { event } of log.filter(({ event }) => event.chainId === chainId)) {
    if (event.type !== 'Reverted') canonical.set(event.orderId, event)
    else if (!canonical.delete(event.orderId)) throw new Error(`${event.orderId} is not canonical`)
  }
  return [...canonical.values()]
}

/**
 * Reads a log from its beginning, page by page, until it is stopped.
 * @returns `stop`, which returns all entries after the read has reached the end
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
