const CURSOR = /^([\w-]{1,32})\.([0-9a-z]{1,11})$/

/** Writes and reads places in one event log. */
export interface Cursors {
  /** The cursor that stands behind an entry; behind none of them for 0. */
  write(sequence: number): string
  /** @returns the sequence, or undefined when `text` is no cursor of this log */
  read(text: string): number | undefined
}

/** Cursors of the log with this id: opaque to callers, safe in URLs and headers (decisions.md D9). */
export function createCursors(logId: string): Cursors {
  return {
    write: (sequence) => `${logId}.${sequence.toString(36)}`,
    read(text) {
      const [, id, digits = ''] = CURSOR.exec(text) ?? []
      const sequence = Number.parseInt(digits, 36)
      return id === logId && Number.isSafeInteger(sequence) ? sequence : undefined
    },
  }
}
