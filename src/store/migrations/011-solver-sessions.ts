import type { Migration } from 'kysely'

/**
 * Adds the session of each solver, and the leases of the replicas that hold the sessions. A replica of an older version
 * leaves all of it unchanged.
 */
export const solverSessions: Migration = {
  async up(db) {
    await db.schema.alterTable('solvers').addColumn('session_id', 'text').execute()
    await db.schema.alterTable('solvers').addColumn('session_replica', 'text').execute()
    await db.schema.alterTable('solvers').addColumn('session_ended_at_ms', 'bigint').execute()
    await db.schema
      .createTable('replicas')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('renewed_since_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .execute()
  },
}
