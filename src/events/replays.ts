import type { Clock } from '../../packages/protocol/src/clock.js'
import type { EventFilter, LogEntry } from '../../packages/protocol/src/orders/event.js'
import type { ClientId } from '../clients/client-id.js'
import { createSharedResults } from '../concurrency/shared-results.js'
import type { EventStore } from '../store/events/event-store.js'
import type { PublishedLog } from './published-log.js'
import type { QueuedRead, ReadQueue } from './read-queue.js'
import { type Batch, type Entry, MAX_BATCH } from './tail-buffer.js'

/** The entries up to and including a sequence that pass a filter. */
export interface LogPart {
  readonly entries: Batch
  readonly through: number
  /** The cursor after that sequence. */
  readonly cursor: string
}

/** The range of the log that a replay reads next. */
interface PageRange {
  readonly after: number
  readonly through: number
}

/** Reads the entries of a log, in order, with their cursors. */
type LogReader = ReturnType<typeof createLogReader>

/** Builds the reader of a store's log. */
export function createLogReader(store: EventStore, log: PublishedLog) {
  const toEntry = (entry: LogEntry) => log.toEntry(entry)
  return {
    /** The entry at a sequence; undefined when the log does not have it. */
    async readEntry(sequence: number): Promise<Entry | undefined> {
      const found = await store.readEntry(sequence)
      return found && toEntry(found)
    },
    /** The entries after a sequence. */
    readAfter: async (sequence: number, limit: number) =>
      (await store.readAfter(sequence, limit)).map(toEntry),
    /** The entries in a range that pass a filter; undefined when the log lacks a part of the range. */
    readMatching: async (filter: EventFilter, range: PageRange, limit: number) =>
      (await store.readMatching(filter, range, limit))?.map(toEntry),
  }
}

/**
 * Reads the parts of the log that are not in memory, in pages, in the turns of the clients. Replays without a filter that
 * need a page at about the same time share one read, as after a restart.
 */
export type Replays = ReturnType<typeof createReplays>

/** Pages kept, without a filter. */
const MAX_PAGES = 64
/**
 * Entries that one read with a filter covers. SQLite reads in the main thread. It takes about 1 ms for these without an
 * index, and 0.1 ms with one.
 */
const MAX_SCANNED = 2000
/** The same when an index returns the entries in order or returns few. The read then ends with a full page. */
const MAX_LOOKED_UP = 100_000
/** With some hundred order ids, SQLite ignores the index and scans the whole range: 30 ms for 100,000 entries. */
const MAX_LOOKED_UP_ORDERS = 100

/** Builds the replays of a log. */
export function createReplays(reader: LogReader, reads: ReadQueue, clock: Clock) {
  const shareForever = () => Number.POSITIVE_INFINITY
  const noPages = () => createSharedResults<LogPart | undefined>(MAX_PAGES, clock, shareForever)
  let pages = noPages()

  async function readWhole({ after, through }: PageRange): Promise<LogPart | undefined> {
    const entries = await reader.readAfter(after, through - after)
    // Retention may have removed the first entries. Then later ones come in their place.
    const own = entries.at(-1)?.sequence === through ? entries : entries.filter((e) => e.sequence <= through)
    const last = own.at(-1)
    return last && { entries: own, through: last.sequence, cursor: last.cursor }
  }

  async function readFiltered(
    filter: EventFilter,
    { after, through }: PageRange,
  ): Promise<LogPart | undefined> {
    const [entries, end] = await Promise.all([
      reader.readMatching(filter, { after, through }, MAX_BATCH),
      reader.readEntry(through),
    ])
    const last = entries !== undefined && entries.length < MAX_BATCH ? end : entries?.at(-1)
    return entries && last && { entries, through: last.sequence, cursor: last.cursor }
  }

  return {
    /**
     * Reads the next part of the log for a subscriber.
     * @param sequence the sequence after which the part begins
     * @param lastSequence the end of the log
     * @returns the place of the read in the queue; its answer is undefined when the log no longer has the part
     */
    read(
      client: ClientId,
      filter: EventFilter,
      sequence: number,
      lastSequence: number,
    ): QueuedRead<LogPart | undefined> {
      const entriesPerRead = entriesPerReadOf(filter)
      const start = sequence - (sequence % entriesPerRead)
      const through = Math.min(start + entriesPerRead, lastSequence)
      if (entriesPerRead > MAX_BATCH)
        return reads.add(client, () => readFiltered(filter, { after: sequence, through }))
      const name = `${start}-${through}`
      const known = pages.find(name)
      const { answer, cancel } = known
        ? { answer: known.result, cancel() {} }
        : reads.add(
            client,
            () => pages.get(name, () => readWhole({ after: start, through })),
            () => pages.find(name) !== undefined,
          )
      return { answer: answer.then((part) => part && partAfter(part, sequence)), cancel }
    },
    /** Removes all pages from memory. */
    clear(): void {
      pages = noPages()
    },
  }
}

/** Number of entries that one read covers: one batch without a filter, and more with one. */
export function entriesPerReadOf(filter: EventFilter): number {
  if (Object.values(filter).every(({ size }) => size === 0)) return MAX_BATCH
  return isLookedUp(filter) ? MAX_LOOKED_UP : MAX_SCANNED
}

/**
 * Whether an index alone limits what a read covers. An order has few events. Events of one user or one solver are in the
 * index in their order. With a second kind of filter, a read could cover many entries that the other kind excludes.
 */
function isLookedUp({ chainIds, types, orderIds, users, solvers }: EventFilter): boolean {
  if (orderIds.size > 0) return orderIds.size <= MAX_LOOKED_UP_ORDERS && users.size + solvers.size === 0
  return users.size + solvers.size === 1 && chainIds.size + types.size === 0
}

/** The part of a page after a sequence. */
function partAfter(part: LogPart, sequence: number): LogPart | undefined {
  const entries =
    part.entries[0]?.sequence === sequence + 1
      ? part.entries
      : part.entries.filter((entry) => entry.sequence > sequence)
  // Sequences have no gaps, so a missing entry is no longer kept.
  return entries[0]?.sequence === sequence + 1 ? { ...part, entries } : undefined
}
