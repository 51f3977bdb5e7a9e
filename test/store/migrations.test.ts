import { expect, test } from 'vitest'
import { createEventStore } from '../../src/store/events/event-store.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { postgresAt } from './databases.js'

test('replicas that start at the same time migrate an empty database once', async () => {
  for (let round = 1; round <= 3; round++) {
    const on = postgresAt(await createPostgresDatabase())
    const opened = await Promise.all(Array.from({ length: 3 }, () => on.open()))
    const states = await Promise.all(
      opened.map(({ database }) => createEventStore(database, () => 0).readState()),
    )
    const logs = await opened[0]?.database.selectFrom('event_log').selectAll().execute()
    expect(logs).toHaveLength(1)
    const state = { logId: logs?.[0]?.log_id, lastSequence: 0, prunedSequence: 0 }
    expect(states).toEqual(opened.map(() => state))
    await Promise.all(opened.map(({ close }) => close()))
  }
})
