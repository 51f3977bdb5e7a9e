import type { Migration } from 'kysely'

/** Creates the registrations and the last accepted timestamps. */
export const solvers: Migration = {
  async up(db) {
    await db.schema
      .createTable('solvers')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('endpoint_url', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('registered_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('is_bonded', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('solvers_pk', ['chain_id', 'address'])
      .execute()
    await db.schema
      .createTable('solver_timestamps')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('last_timestamp_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('solver_timestamps_pk', ['chain_id', 'address'])
      .execute()
  },
}
