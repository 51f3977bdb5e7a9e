import type { LogEntry } from '../../packages/protocol/src/orders/event.js'

/** An entry of the log with the cursor after it, which contains the entry's digest. */
export interface Entry extends Omit<LogEntry, 'digest'> {
  readonly cursor: string
}

/** Entries that are sent together. All subscribers get the same array, so that they can share its encoding. */
export type Batch = readonly Entry[]

/** Most entries in a batch: as many as a subscriber takes at once. */
export const MAX_BATCH = 100

/** Most entries that are kept in memory. */
export const MAX_RECENT = 8192

/** Builds the buffer of the log's end, empty at first. With it, live subscribers do not read the database. */
export function createTailBuffer() {
  const batches: Batch[] = []
  let size = 0

  /** The batch of an entry and its index there, if the entry is in memory. */
  function find(sequence: number): { readonly batch: Batch; readonly index: number } | undefined {
    const batch = batches[lastStartingBy(batches, sequence)]
    const index = sequence - (batch?.[0]?.sequence ?? 0)
    return batch === undefined || index >= batch.length ? undefined : { batch, index }
  }

  return {
    /** Adds entries that follow the last one. */
    add(entries: readonly Entry[]): void {
      for (let start = 0; start < entries.length; start += MAX_BATCH) {
        batches.push(entries.slice(start, start + MAX_BATCH))
      }
      size += entries.length
      while (size > MAX_RECENT) size -= batches.shift()?.length ?? 0
    },
    /** The entries after a sequence that are in one batch; undefined when the next one is not in memory. */
    after(sequence: number): Batch | undefined {
      const next = find(sequence + 1)
      return next === undefined || next.index === 0 ? next?.batch : next.batch.slice(next.index)
    },
    /** The entry at a sequence; undefined when it is not in memory. */
    at(sequence: number): Entry | undefined {
      const found = find(sequence)
      return found?.batch[found.index]
    },
    clear(): void {
      batches.length = 0
      size = 0
    },
  }
}

/** Index of the last batch that does not start after a sequence; -1 when all do. */
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
