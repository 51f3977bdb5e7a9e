import type { LogEntry } from '../../packages/protocol/src/orders/event.js'

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
