import { type Migration, type SqlBool, sql } from 'kysely'

/** Renames tables, columns and an index to the field's terms. */
export const fieldTerms: Migration = {
  async up(db) {
    await db.schema.alterTable('solver_benches').renameTo('solver_circuit_breakers').execute()
    await db.schema.alterTable('chain_readers').renameTo('chain_leaders').execute()
    await db.schema.alterTable('chain_leaders').renameColumn('term', 'epoch').execute()
    await db.schema.alterTable('solver_bars').renameTo('blocked_solvers').execute()
    await db.schema.alterTable('blocked_solvers').renameColumn('barred_at_ms', 'blocked_at_ms').execute()
    await db.schema.alterTable('events').renameColumn('is_standing', 'is_canonical').execute()
    await db.schema.alterTable('events').renameColumn('announced_at_ms', 'published_at_ms').execute()
    await db.schema.dropIndex('events_standing').execute()
    await db.schema
      .createIndex('events_canonical')
      .on('events')
      .columns(['chain_id', 'block_number', 'log_index'])
      .unique()
      .where(sql<SqlBool>`is_canonical = 1`)
      .execute()
  },
}
