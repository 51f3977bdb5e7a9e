import type { Announcement } from '../domain/event.js'

/** An entry of the log with the cursor that stands behind it. */
export interface Entry extends Announcement {
  readonly cursor: string
}

/** Entries that leave together. The same array goes to every subscriber, so that what is made of it can be shared. */
export type Batch = readonly Entry[]

/** Entries in a batch, at the most: as much as a subscriber takes at once. */
export const MAX_BATCH = 100

/** Entries that are kept in memory, at the most. */
export const MAX_RECENT = 8192

/** The end of the log in memory, so that nobody who follows it needs the database. */
export interface RecentEntries {
  /** Adds entries that follow the last one. */
  add(entries: readonly Entry[]): void
  /** The entries behind a sequence, as far as they are in one batch; undefined when the next one is not here. */
  after(sequence: number): Batch | undefined
}

/** Builds it, empty. */
export function createRecentEntries(): RecentEntries {
  const batches: Batch[] = []
  let size = 0
  return {
    add(entries) {
      for (let start = 0; start < entries.length; start += MAX_BATCH) {
        batches.push(entries.slice(start, start + MAX_BATCH))
      }
      size += entries.length
      while (size > MAX_RECENT) size -= batches.shift()?.length ?? 0
    },
    after(sequence) {
      const batch = batches[lastStartingBy(batches, sequence + 1)]
      const skipped = sequence + 1 - (batch?.[0]?.sequence ?? 0)
      if (batch === undefined || skipped >= batch.length) return undefined
      return skipped === 0 ? batch : batch.slice(skipped)
    },
  }
}

/** Index of the last batch that does not start behind a sequence; -1 when all do. */
function lastStartingBy(batches: readonly Batch[], sequence: number): number {
  let low = 0
  let high = batches.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((batches[middle]?.[0]?.sequence ?? 0) <= sequence) low = middle + 1
    else high = middle
  }
  return low - 1
}
