import { randomBytes } from 'node:crypto'
import type { Migration } from 'kysely'

/** The key is created with its table: the migrator lets one replica do so, in one transaction. */
export const recordKey: Migration = {
  async up(db) {
    await db.schema
      .createTable('record_keys')
      .addColumn('record_key', 'text', (column) => column.notNull())
      .execute()
    await db
      .insertInto('record_keys')
      .values({ record_key: randomBytes(16).toString('hex') })
      .execute()
  },
}
