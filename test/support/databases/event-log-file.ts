import { createEventStore } from '../../../src/store/events/event-store.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import { manySettled, newBlocks } from '../../store/events/event-samples.js'

const EVENTS_PER_BLOCK = 1000
/** A chain that no service serves, so that its events do not change. */
const CHAIN_ID = 999

/**
 * Writes an event log into a new file.
 * @returns a cursor before its first event
 */
export async function writeEventLog(path: string, events: number): Promise<string> {
  const database = await openSqlite(path)
  try {
    const store = createEventStore(database, Date.now)
    const token = await store.takeOver(CHAIN_ID)
    for (let block = 1; block <= events / EVENTS_PER_BLOCK; block++)
      await store.append(token, newBlocks(block, block, manySettled(CHAIN_ID, block, EVENTS_PER_BLOCK)))
    const { logId } = await store.readState()
    return `${logId}.0`
  } finally {
    await database.destroy()
  }
}
