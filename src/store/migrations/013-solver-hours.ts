import type { Migration } from 'kysely'

/**
 * Creates the counts of solvers by hour, and adds the total bonds. A replica of an older version leaves a total bond as it
 * is, until a replica of this version reads the bond.
 */
export const solverHours: Migration = {
  async up(db) {
    const counts = ['quoted', 'declined', 'invalid', 'failed', 'late', 'won']
    const table = db.schema
      .createTable('solver_hours')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('solver', 'text', (column) => column.notNull())
      .addColumn('writer', 'text', (column) => column.notNull())
      .addColumn('response_times', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('solver_hours_pk', ['chain_id', 'hour', 'solver', 'writer'])
    await counts
      .reduce((columns, count) => columns.addColumn(count, 'bigint', (column) => column.notNull()), table)
      .execute()
    await db.schema.createIndex('solver_hours_by_hour').on('solver_hours').column('hour').execute()
    await db.schema
      .createIndex('solver_hours_by_solver')
      .on('solver_hours')
      .columns(['chain_id', 'solver', 'hour'])
      .execute()
    await db.schema.alterTable('solver_bonds').addColumn('total_bond', 'text').execute()
  },
}
