import type { LogEntry } from '../domain/event.js'

const CURSOR = /^([\w-]{1,32})\.([0-9a-z]{1,11})(?:\.([\w-]{8}))?$/

/** The entry of the log that a cursor stands after. */
export interface CursorPlace {
  /** 0 for the beginning of the log. */
  readonly sequence: number
  /**
   * The entry's digest, which only the right history of the log confirms. Undefined at the beginning, which all histories
   * share, and in cursors of versions that wrote the sequence alone.
   */
  readonly digest: LogEntry['digest'] | undefined
}

/** Writes and reads places in one event log. */
export interface Cursors {
  write(place: CursorPlace): string
  /** @returns the place, or undefined when `text` is no cursor of this log */
  read(text: string): CursorPlace | undefined
}

/**
 * Cursors of the log with this id: opaque to callers, safe in URLs and headers (docs/decisions.md, D9). A cursor is the log's id,
 * the sequence in base 36 and the entry's digest, with points between them.
 */
export function createCursors(logId: string): Cursors {
  return {
    write({ sequence, digest }) {
      const place = `${logId}.${sequence.toString(36)}`
      return digest === undefined ? place : `${place}.${digest}`
    },
    read(text) {
      const [, id, digits = '', digest] = CURSOR.exec(text) ?? []
      const sequence = Number.parseInt(digits, 36)
      return id === logId && Number.isSafeInteger(sequence) ? { sequence, digest } : undefined
    },
  }
}
