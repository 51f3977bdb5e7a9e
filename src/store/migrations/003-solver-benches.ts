import type { Migration } from 'kysely'

/** Creates the open circuit breakers. */
export const solverBenches: Migration = {
  async up(db) {
    await db.schema
      .createTable('solver_benches')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('endpoint_url', 'text', (column) => column.notNull())
      .addColumn('level', 'integer', (column) => column.notNull())
      .addColumn('until_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('solver_benches_pk', ['chain_id', 'address'])
      .execute()
  },
}
