import type { TableSet } from './database.js'
import { quoteRecordMigrations } from './quote-record-table.js'
import { rateLimitMigrations } from './rate-limit-counters.js'
import { migrations } from './schema.js'

/**
 * All tables of a PostgreSQL. Each set has its migrations noted apart, since with SQLite they are not in one database;
 * the names are not Kysely's own, which another program may have taken.
 */
export const POSTGRES_TABLES = {
  main: { migrations, migrationTable: 'quote_aggregator_migration' },
  quoteRecords: { migrations: quoteRecordMigrations, migrationTable: 'quote_aggregator_record_migration' },
  rateLimits: { migrations: rateLimitMigrations, migrationTable: 'quote_aggregator_limit_migration' },
} as const satisfies Record<string, TableSet>
