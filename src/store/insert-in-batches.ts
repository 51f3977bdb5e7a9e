import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rows of one statement, and as much work as is done before others get their turn. */
export const BATCH_ROWS = 500

/** Inserts rows by as many as one statement may have. */
export async function insertInBatches<T>(
  rows: readonly T[],
  insert: (part: T[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    if (start > 0) await nextTurn()
    await insert(rows.slice(start, start + BATCH_ROWS))
  }
}
