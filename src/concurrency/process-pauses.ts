import { setImmediate as nextTurn } from 'node:timers/promises'

/** In the first one, what has arrived is read. In the second one, what that has begun goes on. */
const TURNS = 2

/**
 * Calls back when what has arrived at this process has been read. A timer that is due runs before the event loop reads, so
 * that after a pause everything that came in time would be too late for it.
 */
export async function afterReading(action: () => void): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn()
  action()
}
