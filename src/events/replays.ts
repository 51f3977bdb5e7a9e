import { LRUCache } from 'lru-cache'
import type { EventFilter } from '../../packages/protocol/src/orders/event.js'
import type { ClientId } from '../clients/client-id.js'
import { type ClientWork, FairSlots } from '../concurrency/fair-queue.js'
import type { EnqueueRead } from './read-queue.js'
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

/** Reads the log. */
export interface LogReader {
  /** The entry at a sequence; undefined when the log does not have it. */
  readEntry(sequence: number): Promise<Entry | undefined>
  /** The entries after a sequence, in order. */
  readAfter(sequence: number, limit: number): Promise<Entry[]>
  /** The entries in a range that pass a filter, in order; undefined when the log lacks a part of the range. */
  readMatching(
    filter: EventFilter,
    range: { readonly after: number; readonly through: number },
    limit: number,
  ): Promise<Entry[] | undefined>
}

/** One subscriber's replay of the part of the log that is not in memory. */
export interface Replay {
  /**
   * The next part of the log, when its turn has come.
   * @returns undefined when the log no longer has it
   */
  next(sequence: number, lastSequence: number): Promise<LogPart | undefined>
  /** Ends the wait of the replay: its `next` never resolves. */
  end(): void
}

/**
 * The replays of all clients (docs/decisions.md, D14), in pages. Those without a filter that need a page at about the same time share
 * one read, as after a restart. Each client and all have a number of reads at the same time. The rest waits, and each client gets equal turns.
 */
export type Replays = ReturnType<typeof createReplays>

const MAX_READS_OF_CLIENT = 4
const MAX_READS = 32
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

/** Builds the replays of a log. @param enqueue runs each read in its turn */
export function createReplays(reader: LogReader, enqueue: EnqueueRead) {
  const pages = new LRUCache<string, Promise<LogPart | undefined>>({ max: MAX_PAGES })
  const slots = new FairSlots({
    perClient: MAX_READS_OF_CLIENT,
    total: MAX_READS,
    ofKeys: { name: 'replays', factor: 1 },
  })

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

  function readPage(range: PageRange): Promise<LogPart | undefined> {
    const name = nameOf(range)
    const known = pages.get(name)
    if (known !== undefined) return known
    const page = enqueue(() => readWhole(range))
    pages.set(name, page)
    page.catch(() => {
      if (pages.peek(name) === page) pages.delete(name)
    })
    return page
  }

  return {
    of(client: ClientId, filter: EventFilter): Replay {
      const entriesPerRead = entriesPerReadOf(filter)
      let waiting: ClientWork | undefined
      const inTurn = (read: () => Promise<LogPart | undefined>) =>
        new Promise<LogPart | undefined>((resolve, reject) => {
          waiting = { client, run: () => read().then(resolve, reject) }
          slots.add(waiting)
        })
      return {
        async next(sequence, lastSequence) {
          const start = sequence - (sequence % entriesPerRead)
          const through = Math.min(start + entriesPerRead, lastSequence)
          if (entriesPerRead > MAX_BATCH)
            return inTurn(() => readFiltered(filter, { after: sequence, through }))
          const range = { after: start, through }
          const part = await (pages.get(nameOf(range)) ?? inTurn(() => readPage(range)))
          return part && partAfter(part, sequence)
        },
        end() {
          if (waiting !== undefined) slots.delete(waiting)
        },
      }
    },
    /** The number of replays that read the log, and the number that wait. */
    counts: (): { readonly running: number; readonly waiting: number } => slots.counts(),
    /** Removes all pages from memory. */
    clear: (): void => pages.clear(),
  }
}

function nameOf({ after, through }: PageRange): string {
  return `${after}-${through}`
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
