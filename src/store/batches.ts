import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rows of one statement, and most rows that are processed in one turn of the event loop. */
export const BATCH_ROWS = 500

/** Processes rows in batches that fit into one statement. */
export async function forEachBatch<T>(
  rows: readonly T[],
  process: (part: T[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    if (start > 0) await nextTurn()
    await process(rows.slice(start, start + BATCH_ROWS))
  }
}
