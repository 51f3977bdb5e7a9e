import { type Migration, type SqlBool, sql } from 'kysely'

/**
 * Creates the table of orders, and adds the transactions and times of events. An event is unique by its order and type. Older events get both later, in the
 * background (see log-completion.ts), because they must be read from the chain.
 */
export const orders: Migration = {
  async up(db) {
    await db.schema.alterTable('events').addColumn('transaction_hash', 'text').execute()
    await db.schema.alterTable('events').addColumn('block_time', 'bigint').execute()
    await db.schema.alterTable('events').addColumn('is_in_orders', 'integer').execute()
    await db.schema
      .createIndex('events_not_in_orders')
      .on('events')
      .columns(['chain_id', 'sequence'])
      .where(sql<SqlBool>`coalesce(is_in_orders, -1) <> is_canonical`)
      .execute()
    await db.schema
      .createIndex('events_without_transaction')
      .on('events')
      .columns(['chain_id', 'sequence'])
      .where(sql<SqlBool>`transaction_hash is null and is_canonical = 1`)
      .execute()
    // Two events of a block can have the same log index, because nodes count a block's logs differently.
    await db.schema.dropIndex('events_canonical').execute()
    await db.schema
      .createIndex('events_canonical')
      .on('events')
      .columns(['chain_id', 'block_number', 'log_index', 'type', 'order_id'])
      .unique()
      .where(sql<SqlBool>`is_canonical = 1`)
      .execute()
    await db.schema
      .createTable('orders')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('order_id', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('log_index', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('user', 'text', (column) => column.notNull())
      .addColumn('solver', 'text')
      .addColumn('terms', 'text')
      .addColumn('steps', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('orders_pk', ['chain_id', 'order_id'])
      .execute()
    const position = ['block_number', 'log_index']
    const filters = {
      orders_by_state: [],
      orders_by_user: ['user'],
      orders_by_solver: ['solver'],
      orders_by_parties: ['user', 'solver'],
    }
    for (const [name, columns] of Object.entries(filters))
      await db.schema
        .createIndex(name)
        .on('orders')
        .columns(['chain_id', ...columns, 'state', ...position])
        .execute()
    await db.schema
      .createIndex('orders_without_terms')
      .on('orders')
      .columns(['chain_id', ...position])
      .where(sql<SqlBool>`terms is null`)
      .execute()
  },
}
