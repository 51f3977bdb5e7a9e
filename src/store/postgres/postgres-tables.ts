import type { TableSet } from '../database.js'
import { migrations } from '../migrations.js'
import { quoteRecordMigrations } from '../records/quote-record-table.js'
import { rateLimitMigrations } from './rate-limit-counters.js'

/**
 * All tables of a PostgreSQL. Each set has a migration table of its own, because with SQLite the sets are in different
 * databases. The names are not Kysely's own, because another program may use those.
 */
export const POSTGRES_TABLES = {
  main: { migrations, migrationTable: 'quote_aggregator_migration' },
  quoteRecords: { migrations: quoteRecordMigrations, migrationTable: 'quote_aggregator_record_migration' },
  rateLimits: { migrations: rateLimitMigrations, migrationTable: 'quote_aggregator_limit_migration' },
} as const satisfies Record<string, TableSet>
