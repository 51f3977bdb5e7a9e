import { LRUCache } from 'lru-cache'
import type { LogEntry } from '../../packages/protocol/src/orders/event.js'
import { type ClientId, THIS_PROCESS } from '../clients/client-id.js'
import type { Entry } from './tail-buffer.js'

const CURSOR = /^([\w-]{1,32})\.([0-9a-z]{1,11})(?:\.([\w-]{8}))?$/

/** The parts of a cursor, which stands for the position after one entry of the log. */
interface CursorParts {
  /** 0 for the beginning of the log. */
  readonly sequence: number
  /**
   * The entry's digest, which only the right history of the log confirms. It is undefined at the beginning of the log,
   * which all histories share.
   */
  readonly digest: LogEntry['digest'] | undefined
}

/** Writes and parses cursors of one event log. */
export type Cursors = ReturnType<typeof createCursors>

/**
 * Creates the cursors of the log with this id. They are opaque to callers and safe in URLs and headers (docs/decisions.md,
 * D9). A cursor is the log's id, the sequence in base 36 and the entry's digest, separated by points.
 */
export function createCursors(logId: string) {
  return {
    write({ sequence, digest }: CursorParts): string {
      const position = `${logId}.${sequence.toString(36)}`
      return digest === undefined ? position : `${position}.${digest}`
    },
    /** @returns its parts, or undefined when `text` is not a cursor of this log */
    read(text: string): CursorParts | undefined {
      const [, id, digits = '', digest] = CURSOR.exec(text) ?? []
      const sequence = Number.parseInt(digits, 36)
      return id === logId && Number.isSafeInteger(sequence) ? { sequence, digest } : undefined
    },
  }
}

/** A position in the log: after the entry with this sequence and cursor. */
export interface Position {
  readonly sequence: number
  readonly cursor: string
}

/** The position at which a subscriber begins. */
export interface StartPosition extends Position {
  /** Whether it is the beginning of the log. When retention has removed entries since, a later one is as good. */
  readonly isBeginning?: boolean
}

/** The log, as far as cursors need it. */
interface CursorLog {
  readonly end: Position
  readonly cursors: Cursors
  cursorAt(sequence: number): string | undefined
}

/** The positions of the log for which clients' cursors stand. */
export interface CursorPositions {
  /**
   * The position of a cursor, if the log still has it and the cursor belongs to this log's history. A cursor without a
   * digest stands for the beginning of the log only.
   */
  find(cursor: string): Position | undefined
  /** The position before the oldest entry that the log still has. */
  beginning(): StartPosition
  /** Whether a cursor of this log is later than all published entries. */
  isAhead(cursor: string): boolean
  /**
   * Reads the entry of a cursor that only the database can confirm. `find` accepts such a cursor only afterwards.
   * @returns undefined for every other cursor; otherwise a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  confirm(cursor: string, client?: ClientId): Promise<void> | undefined
  /** Notes that the log now begins after a sequence. */
  pruneThrough(sequence: number): void
  /** Notes that the log has another history, which begins after a sequence. Reads of the earlier one confirm nothing. */
  startOver(sequence: number): void
}

const MAX_CONFIRMED = 10_000

/**
 * Builds the positions.
 * @param prunedSequence the sequence after which the log begins
 * @param readEntry reads an entry that is not in memory, in the turn of a client
 */
export function createCursorPositions(
  log: CursorLog,
  prunedSequence: number,
  readEntry: (client: ClientId, sequence: number) => Promise<Entry | undefined>,
): CursorPositions {
  let beginning = prunedSequence
  /** Cursors of entries that are not in memory, which a read has confirmed. */
  let confirmed = new LRUCache<string, true>({ max: MAX_CONFIRMED })

  const isInLog = (sequence: number) => sequence <= log.end.sequence && sequence >= beginning

  async function readToConfirm(cursor: string, sequence: number, client: ClientId): Promise<void> {
    const history = confirmed
    const entry = await readEntry(client, sequence)
    if (entry?.cursor === cursor) history.set(cursor, true)
  }

  return {
    find(cursor) {
      const { sequence, digest } = log.cursors.read(cursor) ?? {}
      if (sequence === undefined || !isInLog(sequence)) return undefined
      const known = log.cursorAt(sequence)
      if (digest === undefined)
        return sequence === beginning ? { sequence, cursor: known ?? cursor } : undefined
      const isOfHistory = known === undefined ? confirmed.has(cursor) : known === cursor
      return isOfHistory ? { sequence, cursor } : undefined
    },
    beginning: () => ({
      isBeginning: true,
      sequence: beginning,
      cursor: log.cursorAt(beginning) ?? log.cursors.write({ sequence: beginning, digest: undefined }),
    }),
    isAhead: (cursor) => (log.cursors.read(cursor)?.sequence ?? 0) > log.end.sequence,
    confirm(cursor, client = THIS_PROCESS) {
      const { sequence = 0, digest } = log.cursors.read(cursor) ?? {}
      if (digest === undefined || !isInLog(sequence)) return undefined
      if (log.cursorAt(sequence) !== undefined || confirmed.has(cursor)) return undefined
      return readToConfirm(cursor, sequence, client)
    },
    pruneThrough(sequence) {
      beginning = sequence
    },
    startOver(sequence) {
      beginning = sequence
      confirmed = new LRUCache({ max: MAX_CONFIRMED })
    },
  }
}
