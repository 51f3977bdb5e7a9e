import { randomBytes } from 'node:crypto'
import { type Migration, type SqlBool, sql } from 'kysely'

/** Creates the event log, and the position of each chain in it. */
export const events: Migration = {
  async up(db) {
    await db.schema
      .createTable('event_log')
      .addColumn('log_id', 'text', (column) => column.notNull())
      .addColumn('pruned_sequence', 'bigint', (column) => column.notNull())
      .execute()
    await db
      .insertInto('event_log')
      .values({ log_id: randomBytes(6).toString('base64url'), pruned_sequence: 0 })
      .execute()
    await db.schema
      .createTable('events')
      .addColumn('sequence', 'bigint', (column) => column.primaryKey())
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', 'text', (column) => column.notNull())
      .addColumn('log_index', 'bigint', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .addColumn('order_id', 'text', (column) => column.notNull())
      .addColumn('user', 'text', (column) => column.notNull())
      .addColumn('solver', 'text')
      .addColumn('is_standing', 'integer', (column) => column.notNull())
      .addColumn('announced_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('events_standing')
      .on('events')
      .columns(['chain_id', 'block_number', 'log_index'])
      .unique()
      .where(sql<SqlBool>`is_standing = 1`)
      .execute()
    await db.schema
      .createTable('chain_positions')
      .addColumn('chain_id', 'bigint', (column) => column.primaryKey())
      .addColumn('settlement', 'text', (column) => column.notNull())
      .addColumn('first_block', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('chain_headers')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('parent_hash', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('chain_headers_pk', ['chain_id', 'number'])
      .execute()
  },
}
