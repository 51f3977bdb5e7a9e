import type { Migration } from 'kysely'

/** Adds the start of an insufficient bond, which begins at the upgrade, and creates the blocked addresses. */
export const solverPlaces: Migration = {
  async up(db) {
    await db.schema.alterTable('solvers').addColumn('unbonded_since_ms', 'bigint').execute()
    await db
      .updateTable('solvers')
      .set({ unbonded_since_ms: Date.now() })
      .where('is_bonded', '=', 0)
      .execute()
    await db.schema
      .createTable('solver_bars')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('barred_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('solver_bars_pk', ['chain_id', 'address'])
      .execute()
  },
}
