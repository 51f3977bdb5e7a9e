import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rows of one statement, and as much work as is done before others get their turn. */
export const ROWS_AT_ONCE = 500

/** Inserts rows by as many as one statement may have. */
export async function insertInParts<T>(
  rows: readonly T[],
  insert: (part: T[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    if (start > 0) await nextTurn()
    await insert(rows.slice(start, start + ROWS_AT_ONCE))
  }
}
