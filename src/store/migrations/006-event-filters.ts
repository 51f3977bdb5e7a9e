import type { Migration } from 'kysely'

/** Indexes the orders and the parties of events. Chains and types are few, so a read scans a bounded range for them. */
export const eventFilters: Migration = {
  async up(db) {
    for (const column of ['order_id', 'user', 'solver']) {
      await db.schema.createIndex(`events_of_${column}`).on('events').columns([column, 'sequence']).execute()
    }
  },
}
