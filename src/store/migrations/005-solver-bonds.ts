import type { Migration } from 'kysely'

/** Creates the free bonds. */
export const solverBonds: Migration = {
  async up(db) {
    await db.schema
      .createTable('solver_bonds')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('free_bond', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('solver_bonds_pk', ['chain_id', 'address'])
      .execute()
  },
}
