import { randomBytes } from 'node:crypto'
import type { Migration } from 'kysely'

/**
 * Adds the session of each solver, the leases of the replicas that hold the sessions, and the key with which replicas sign
 * requests to each other. A replica of an older version leaves all of it unchanged.
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
      .addColumn('url', 'text')
      .execute()
    await db.schema
      .createTable('replica_keys')
      .addColumn('replica_key', 'text', (column) => column.notNull())
      .execute()
    await db
      .insertInto('replica_keys')
      .values({ replica_key: randomBytes(32).toString('hex') })
      .execute()
  },
}
