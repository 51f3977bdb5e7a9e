import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { EVERY_EVENT, type EventFilter } from '../domain/event.js'
import { createReadQueue } from './read-queue.js'
import { type Batch, type Entry, MAX_BATCH } from './recent-entries.js'

/** What passes a filter of the entries up to and including a sequence. */
export interface LogPart {
  readonly entries: Batch
  readonly through: number
}

/** Where a replay stands: two replays at a place with the same name read the same page. */
export interface LogPlace {
  readonly name: string
  readonly filter: NamedFilter
  readonly after: number
  readonly through: number
}

export interface NamedFilter {
  readonly filter: EventFilter
  /** Empty for the filter that lets everything pass. */
  readonly name: string
}

/** How the log is read. */
export interface LogReader {
  /** The entries after a sequence, in order. */
  readAfter(sequence: number, limit: number): Promise<Entry[]>
  /** The entries in a range that pass a filter, in order; undefined when the log lacks a part of the range. */
  readMatching(
    filter: EventFilter,
    range: { readonly after: number; readonly through: number },
    limit: number,
  ): Promise<Entry[] | undefined>
}

/** The log by pages: each is read once for all who replay it at about the same time, as after a restart. */
export interface LogPages {
  placeOf(filter: NamedFilter, sequence: number, lastSequence: number): LogPlace
  /** A page that was read lately, or is being read; undefined when the database must be asked. */
  find(place: LogPlace): Promise<LogPart | undefined> | undefined
  /** Reads a page; undefined when the log no longer has all of it. */
  read(place: LogPlace): Promise<LogPart | undefined>
}

/** Pages that are kept with a filter, and as many without: filters of one client must not drive out what all share. */
const MAX_PAGES = 64
/**
 * Entries that one read with a filter goes through. SQLite reads in the main thread; so many take it 2 ms, about as long as
 * a page of whole entries.
 */
const MAX_SCANNED = 5000

/** Builds the pages over a log. Pages are read one after the other, with a turn of the event loop in between. */
export function createLogPages(reader: LogReader): LogPages {
  const kept = {
    whole: new LRUCache<string, Promise<LogPart | undefined>>({ max: MAX_PAGES }),
    filtered: new LRUCache<string, Promise<LogPart | undefined>>({ max: MAX_PAGES }),
  }
  const enqueue = createReadQueue()
  const pagesFor = ({ filter }: LogPlace) => (filter.name === '' ? kept.whole : kept.filtered)

  async function readWhole({ after, through }: LogPlace): Promise<LogPart | undefined> {
    const entries = await reader.readAfter(after, through - after)
    // Retention may have removed the first ones; then later ones come in their place.
    const own = entries.at(-1)?.sequence === through ? entries : entries.filter((e) => e.sequence <= through)
    return { entries: own, through }
  }

  async function readFiltered({ filter, after, through }: LogPlace): Promise<LogPart | undefined> {
    const entries = await reader.readMatching(filter.filter, { after, through }, MAX_BATCH)
    if (entries === undefined) return undefined
    return { entries, through: entries.length < MAX_BATCH ? through : (entries.at(-1)?.sequence ?? through) }
  }

  return {
    placeOf(filter, sequence, lastSequence) {
      const length = filter.name === '' ? MAX_BATCH : MAX_SCANNED
      const start = sequence - (sequence % length)
      const through = Math.min(start + length, lastSequence)
      const after = filter.name === '' ? start : sequence
      return { name: `${filter.name}${after}-${through}`, filter, after, through }
    },
    find: (place) => pagesFor(place).get(place.name),
    read(place) {
      const pages = pagesFor(place)
      const known = pages.get(place.name)
      if (known !== undefined) return known
      const page = enqueue(() => (place.filter.name === '' ? readWhole(place) : readFiltered(place)))
      pages.set(place.name, page)
      page.catch(() => {
        if (pages.peek(place.name) === page) pages.delete(place.name)
      })
      return page
    },
  }
}

/** Names a filter: the same filter has the same name, whatever the order of its values. */
export function nameFilter(filter: EventFilter): NamedFilter {
  const kinds = Object.keys(EVERY_EVENT) as (keyof EventFilter)[]
  if (kinds.every((kind) => filter[kind].size === 0)) return { filter, name: '' }
  const values = kinds.map((kind) => [...filter[kind]].map(String).sort())
  const digest = createHash('sha256').update(JSON.stringify(values)).digest('base64url')
  return { filter, name: `${digest} ` }
}
