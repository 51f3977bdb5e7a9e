import { type Migration, sql } from 'kysely'

/** Lets replicas share the event log: its last sequence, and the leader of each chain. */
export const replicas: Migration = {
  async up(db) {
    await db.schema
      .alterTable('event_log')
      .addColumn('last_sequence', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await sql`update event_log
      set last_sequence = coalesce((select max(sequence) from events), pruned_sequence)`.execute(db)
    await db.schema
      .createTable('chain_readers')
      .addColumn('chain_id', 'bigint', (column) => column.primaryKey())
      .addColumn('term', 'bigint', (column) => column.notNull())
      .execute()
  },
}
