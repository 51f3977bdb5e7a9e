import type {
  BlockHeader,
  BlockRef,
  ChainPosition,
  EventWithPosition,
  NewBlocks,
} from '../../../packages/protocol/src/orders/block.js'
import type { LogEntry } from '../../../packages/protocol/src/orders/event.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import {
  BATCH_ROWS,
  type Coordination,
  type Database,
  type DatabaseTransaction,
  forEachBatch,
  NO_COORDINATION,
} from '../database.js'
import { addSteps, knownSolvers, removeOrders, removeSteps } from '../orders/order-statements.js'
import {
  appendHeaders,
  assertLastToken,
  type FencingToken,
  issueToken,
  readPosition,
  replaceHeaders,
  revertHeaders,
  setStart,
} from './chain-positions.js'
import { createEventReads } from './event-reads.js'
import { eventRow, logEntryOf, type NewEventRow, reversionRow } from './event-rows.js'
import {
  canonicalIdentities,
  identityOf,
  lockLog,
  markRemoved,
  moveLastSequence,
  readEventBlocks,
  removeThrough,
  settle,
} from './event-statements.js'
import { createMissingTerms } from './missing-terms.js'

/** The id of a log, and the part of it that still exists. */
export interface LogState {
  /** Unique to each log, so that a cursor of one log is not valid in another. */
  readonly logId: string
  /** Sequence of the last entry; 0 before the first. */
  readonly lastSequence: number
  /** Sequence of the last entry that retention has passed, 0 when none. Replays begin after it. */
  readonly prunedSequence: number
}

/** The fencing token of a chain's new leader, and the position at which it continues. */
export interface Takeover extends FencingToken {
  /** The position that the previous leader stored; undefined when there was none. */
  readonly position: ChainPosition | undefined
}

/**
 * The log of all published events, the orders of these events, and the position of each chain. All change in the same
 * transaction. All methods that write for a chain throw FencedError, and change nothing, after another leader has taken the
 * chain over.
 */
export type EventStore = ReturnType<typeof createEventStore>

/**
 * Builds the event log over an open database. It notifies replicas of the last sequence after each added entry.
 * @param now the clock, Unix time in milliseconds
 */
export function createEventStore(
  database: Database,
  now: () => number,
  coordination: Coordination = NO_COORDINATION,
) {
  const { notify } = coordination

  /** Runs a write of a chain's leader. */
  function write<T>(token: FencingToken, work: (transaction: DatabaseTransaction) => Promise<T>): Promise<T> {
    return database.transaction().execute(async (transaction) => {
      await assertLastToken(transaction, token)
      return work(transaction)
    })
  }

  /** Adds entries after the last one. @param toRow creates the row of an entry from its sequence and time */
  async function addEntries<T>(
    transaction: DatabaseTransaction,
    sources: readonly T[],
    toRow: (sequence: number, source: T, publishedAtMs: number) => NewEventRow,
  ): Promise<LogEntry[]> {
    if (sources.length === 0) return []
    const before = await moveLastSequence(transaction, sources.length)
    const time = now()
    const rows = sources.map((source, index) => toRow(before + 1 + index, source, time))
    await forEachBatch(rows, (part) => transaction.insertInto('events').values(part).execute())
    await notify(transaction, 'events', String(before + sources.length))
    return rows.map(logEntryOf)
  }

  async function addEvents(
    transaction: DatabaseTransaction,
    { chainId }: FencingToken,
    events: readonly EventWithPosition[],
  ): Promise<LogEntry[]> {
    const entries = await addEntries(transaction, events, eventRow)
    await addSteps(transaction, chainId, events)
    return entries
  }

  return {
    ...createEventReads(database),
    ...createMissingTerms(database, write),

    async readState(): Promise<LogState> {
      const row = await database.selectFrom('event_log').selectAll().executeTakeFirstOrThrow()
      return { logId: row.log_id, lastSequence: row.last_sequence, prunedSequence: row.pruned_sequence }
    },

    /** Makes the caller the leader of a chain, after a write under way. From then on, writes of earlier leaders fail. */
    takeOver: (chainId: number): Promise<Takeover> =>
      database.transaction().execute(async (transaction) => ({
        ...(await issueToken(transaction, chainId)),
        position: await readPosition(transaction, chainId),
      })),

    /**
     * Sets a chain's position to `header`, at the first start or for another contract. Earlier published events stay in the log, and
     * no reorganisation removes them any more. Their orders leave the table, because another contract has none of them.
     */
    begin: (token: FencingToken, settlement: Address, header: BlockHeader): Promise<void> =>
      write(token, async (transaction) => {
        const { chainId } = token
        await replaceHeaders(transaction, chainId, header)
        await lockLog(transaction)
        await settle(transaction, chainId)
        await removeOrders(transaction, chainId)
        await setStart(transaction, chainId, settlement, header.number + 1)
      }),

    /** Adds blocks and publishes their events. */
    append: (token: FencingToken, { headers, events, keepFrom }: NewBlocks): Promise<LogEntry[]> =>
      write(token, async (transaction) => {
        await appendHeaders(transaction, token.chainId, headers, keepFrom)
        return addEvents(transaction, token, events)
      }),

    /**
     * Publishes the events that the log lacks, after all others. Their blocks are published already. A reorganisation removes
     * them like other events.
     */
    appendMissing: (token: FencingToken, events: readonly EventWithPosition[]): Promise<LogEntry[]> =>
      write(token, async (transaction) => {
        const known = await canonicalIdentities(transaction, token.chainId, events)
        const missing = events.filter((event) => !known.has(identityOf(event)))
        return addEvents(transaction, token, missing)
      }),

    /** Reverts all events after `ancestor`, the latest first. `ancestor` becomes the position. */
    revert: (token: FencingToken, ancestor: BlockHeader): Promise<LogEntry[]> =>
      write(token, async (transaction) => {
        const { chainId } = token
        await revertHeaders(transaction, chainId, ancestor)
        await lockLog(transaction)
        const removed = await markRemoved(transaction, chainId, ancestor.number)
        await removeSteps(transaction, chainId, removed)
        return addEntries(transaction, removed, reversionRow)
      }),

    /** The last blocks of a chain with canonical events below a number: at most `limit`, the oldest first. */
    eventBlocks: (chainId: number, below: number, limit: number): Promise<BlockRef[]> =>
      readEventBlocks(database, chainId, below, limit),

    /** The solvers of those of some orders of a chain whose terms are known. */
    knownSolvers: (chainId: number, orderIds: readonly Hex[]): Promise<Map<Hex, Address>> =>
      knownSolvers(database, chainId, orderIds),

    /**
     * Removes some of the entries at the beginning of the log that were published before a time, Unix time in milliseconds. It
     * keeps the last of them, so that the cursor at the beginning of the log can be confirmed.
     * @returns the log's `prunedSequence`, and whether there may be more to remove
     */
    async pruneSome(beforeMs: number) {
      const page = await database
        .selectFrom('events')
        .select(['sequence', 'published_at_ms'])
        .orderBy('sequence')
        .limit(BATCH_ROWS)
        .execute()
      const kept = page.findIndex((row) => row.published_at_ms >= beforeMs)
      const last = (kept === -1 ? page : page.slice(0, kept)).at(-1)
      if (last !== undefined) await removeThrough(database, last.sequence)
      const log = await database.selectFrom('event_log').selectAll().executeTakeFirstOrThrow()
      return { prunedSequence: log.pruned_sequence, isMore: kept === -1 && page.length === BATCH_ROWS }
    },
  }
}
