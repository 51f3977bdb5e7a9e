import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'vitest'
import type {
  BlockHeader,
  EventWithPosition,
  NewBlocks,
} from '../../../packages/protocol/src/orders/block.js'
import type { LogEntry, OrderEvent, StreamEvent } from '../../../packages/protocol/src/orders/event.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { readPosition } from '../../../src/store/events/chain-positions.js'
import { createEventStore, type EventStore } from '../../../src/store/events/event-store.js'
import { sqliteAt, type TestDatabase } from '../databases.js'

const NOW = 1_800_000_000_000
export const SETTLEMENT = '0x5e771e'
/** The error of SQLite and PostgreSQL for an event that is published already and canonical. */
export const STANDS =
  /UNIQUE constraint failed: events\.chain_id, events\.block_number|constraint "events_canonical"$/

/**
 * Opens an event store. It closes with the test, if it is still open.
 * @param on a database, or a path of SQLite
 */
export async function openStore(on: TestDatabase | string, now = () => NOW) {
  const { database, coordination, close } = await (typeof on === 'string' ? sqliteAt(on) : on).open()
  const store = createEventStore(database, now, coordination)
  const position = (chainId: number) =>
    database.transaction().execute((transaction) => readPosition(transaction, chainId))

  /** Everything that the store has of the log and of these chains. */
  async function contents(...chainIds: number[]) {
    return {
      state: await store.readState(),
      entries: await store.readAfter(0, 1_000_000),
      positions: await Promise.all(chainIds.map(position)),
    }
  }

  return { store, database, coordination, position, contents, close }
}

/** Opens an event store, and takes over chains 1 and 2. */
export async function openToRead(...args: Parameters<typeof openStore>) {
  const opened = await openStore(...args)
  const [one, two] = [await opened.store.takeOver(1), await opened.store.takeOver(2)]
  return { ...opened, one, two }
}

/** Removes all entries before a time, as retention does. @returns the log's `prunedSequence` */
export async function pruneAll(store: Pick<EventStore, 'pruneSome'>, beforeMs: number): Promise<number> {
  for (;;) {
    const { isMore, prunedSequence } = await store.pruneSome(beforeMs)
    if (!isMore) return prunedSequence
    await nextTurn()
  }
}

/** A block of a branch. */
export function header(number: number, branch = 'a', parentBranch = branch): BlockHeader {
  return { number, hash: `0x${branch}${number}`, parentHash: `0x${parentBranch}${number - 1}` }
}

/** An event that differs from others by chain, block and log index. Every third one has no solver. */
export function settled(
  chainId: number,
  blockNumber: number,
  logIndex: number,
  branch = 'a',
): EventWithPosition {
  const id = `0x${branch}${chainId}${blockNumber}${logIndex}` as const
  const solver = logIndex % 3 === 2 ? undefined : (`${id}c0` as Hex)
  const event: OrderEvent = {
    type: 'Settled',
    chainId,
    orderId: id,
    user: `${id}b0`,
    solver,
    blockNumber,
    logIndex,
    transactionHash: `${id}7a`,
    blockTime: 1_700_000_000 + blockNumber,
  }
  return { event, blockHash: header(blockNumber, branch).hash }
}

/** Many events of one block. */
export function manySettled(chainId: number, blockNumber: number, count: number): EventWithPosition[] {
  return Array.from({ length: count }, (_, logIndex) => settled(chainId, blockNumber, logIndex))
}

/** The blocks up to and including a number, with events. */
export function newBlocks(
  from: number,
  to: number,
  events: readonly EventWithPosition[],
  branch = 'a',
): NewBlocks {
  const rest = Array.from({ length: to - from }, (_, index) => header(from + 1 + index, branch))
  return { headers: [header(from, branch), ...rest], events, keepFrom: 0 }
}

/** Matches any digest; other tests check digests. */
const anyDigest = (): string => expect.stringMatching(/^[\w-]{8}$/)

/** The entries of published events, with sequences from one on. */
export function publishedEntries(firstSequence: number, ...events: readonly EventWithPosition[]): LogEntry[] {
  return events.map(({ event }, index) => ({ sequence: firstSequence + index, event, digest: anyDigest() }))
}

/** The entries of reverted events, in the given order. */
export function revertedEntries(firstSequence: number, ...events: readonly EventWithPosition[]): LogEntry[] {
  return events.map(({ event: { type, ...base } }, index) => {
    const event: StreamEvent = { ...base, type: 'Reverted', event: type }
    return { sequence: firstSequence + index, event, digest: anyDigest() }
  })
}
