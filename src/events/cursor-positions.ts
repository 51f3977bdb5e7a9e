import { LRUCache } from 'lru-cache'
import type { Position, PublishedLog, StartPosition } from './published-log.js'
import type { EnqueueRead } from './read-queue.js'
import type { Entry } from './tail-buffer.js'

/**
 * Builds the positions of the log for which clients' cursors stand.
 * @param prunedSequence the sequence after which the log begins
 */
export function createCursorPositions(
  log: PublishedLog,
  confirmations: Confirmations,
  prunedSequence: number,
) {
  let beginning = prunedSequence

  const isInLog = (sequence: number) => sequence <= log.end.sequence && sequence >= beginning

  return {
    /**
     * The position of a cursor, if the log still has it and the cursor belongs to this log's history. A cursor without a
     * digest stands for the beginning of the log only.
     */
    find(cursor: string): Position | undefined {
      const { sequence, digest } = log.cursors.read(cursor) ?? {}
      if (sequence === undefined || !isInLog(sequence)) return undefined
      const known = log.cursorAt(sequence)
      if (digest === undefined)
        return sequence === beginning ? { sequence, cursor: known ?? cursor } : undefined
      const isOfHistory = known === undefined ? confirmations.has(cursor) : known === cursor
      return isOfHistory ? { sequence, cursor } : undefined
    },
    /** The position before the oldest entry that the log still has. */
    beginning: (): StartPosition => ({
      isBeginning: true,
      sequence: beginning,
      cursor: log.cursorAt(beginning) ?? log.cursors.write({ sequence: beginning, digest: undefined }),
    }),
    /** Whether a cursor of this log is later than all published entries. */
    isAhead: (cursor: string): boolean => (log.cursors.read(cursor)?.sequence ?? 0) > log.end.sequence,
    /**
     * Reads the entry of a cursor that only the database can confirm. `find` accepts such a cursor only afterwards.
     * @returns undefined for every other cursor; otherwise a promise that throws ServiceError DATABASE_UNAVAILABLE
     */
    confirm(cursor: string): Promise<void> | undefined {
      const { sequence = 0, digest } = log.cursors.read(cursor) ?? {}
      if (digest === undefined || !isInLog(sequence)) return undefined
      if (log.cursorAt(sequence) !== undefined || confirmations.has(cursor)) return undefined
      return confirmations.confirm(cursor, sequence)
    },
    /** Notes that the log now begins after a sequence. */
    pruneThrough(sequence: number): void {
      beginning = sequence
    },
    /** Notes that the log has another history, which begins after a sequence. */
    startOver(sequence: number): void {
      beginning = sequence
      confirmations.clear()
    },
  }
}

/** Confirms cursors of entries that are not in memory. Each confirmation reads one entry. */
type Confirmations = ReturnType<typeof createConfirmations>

const MAX_CONFIRMED = 10_000

/** Builds the confirmations. */
export function createConfirmations(
  readEntry: (sequence: number) => Promise<Entry | undefined>,
  enqueueRead: EnqueueRead,
) {
  let confirmed = new LRUCache<string, true>({ max: MAX_CONFIRMED })

  return {
    /** Whether this cursor has been confirmed. */
    has: (cursor: string): boolean => confirmed.has(cursor),
    /**
     * Reads the entry of a cursor. After that, `has` is true if the entry has this cursor.
     * @throws ServiceError DATABASE_UNAVAILABLE
     */
    async confirm(cursor: string, sequence: number): Promise<void> {
      const history = confirmed
      const entry = await enqueueRead(() => readEntry(sequence))
      if (entry?.cursor === cursor) history.set(cursor, true)
    },
    /** Removes all confirmations, because the log has another history now. */
    clear(): void {
      confirmed = new LRUCache({ max: MAX_CONFIRMED })
    },
  }
}
