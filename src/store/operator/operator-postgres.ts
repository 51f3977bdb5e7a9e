import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { assertOwnVersion } from '../migrations.js'
import { createConnectionPool, mapConnectionErrors, POSTGRES_COORDINATION } from '../postgres/postgres.js'
import { POSTGRES_TABLES } from '../postgres/postgres-stores.js'
import { searchRecords } from '../records/quote-record-reads.js'
import type { QuoteRecordSchema, RecordSearch } from '../records/quote-record-store.js'
import type { Schema } from '../schema.js'
import { createApiKeyStore } from './api-key-store.js'
import { createSolverLists } from './listed-solvers.js'
import type { OperatorStores } from './operator-stores.js'

const UNDEFINED_TABLE = '42P01'

/** Opens the operator's stores in the shared PostgreSQL. @throws ConfigError, or ServiceError DATABASE_UNAVAILABLE */
export async function openOperatorPostgres(databaseUrl: string): Promise<OperatorStores> {
  const pool = createConnectionPool(databaseUrl)
  const database = new Kysely<Schema>({ dialect: pool.dialect() })
  const records = new Kysely<QuoteRecordSchema>({ dialect: pool.dialect() })
  try {
    const { readApplied } = mapConnectionErrors({
      readApplied: (table: string) => readMigrations(database, table),
    })
    for (const { migrations, migrationTable } of [POSTGRES_TABLES.main, POSTGRES_TABLES.quoteRecords])
      assertOwnVersion('DATABASE_URL', await readApplied(migrationTable), migrations)
  } catch (error) {
    await pool.close()
    throw error
  }
  const { blocked, allowed } = createSolverLists(database, POSTGRES_COORDINATION)
  return {
    lists: { blocked: mapConnectionErrors(blocked), allowed: mapConnectionErrors(allowed) },
    keys: mapConnectionErrors(createApiKeyStore(database)),
    ...mapConnectionErrors({ searchRecords: (search: RecordSearch) => searchRecords(records, search) }),
    close: pool.close,
  }
}

async function readMigrations(database: Kysely<Schema>, table: string): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(database)
    return rows.map(({ name }) => name)
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE) return []
    throw error
  }
}
