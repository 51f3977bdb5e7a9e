import {
  DEFAULT_MIGRATION_TABLE,
  type Dialect,
  Kysely,
  type Migration,
  Migrator,
  sql,
  type Transaction,
} from 'kysely'
import type { Topic } from '../domain/cluster.js'
import type { Schema } from './schema.js'

export type Database = Kysely<Schema>

/** What runs in one transaction. */
export type DatabaseTransaction = Transaction<Schema>

/** Tables by the migrations that make them, and where it is noted which of these have been run. */
export interface TableSet {
  readonly migrations: Record<string, Migration>
  /** Of the table of migrations; Kysely's own when undefined. */
  readonly migrationTable?: string
}

/** What transactions need beside tables where several processes share these. */
export interface Coordination {
  /** Lets a transaction wait until no other one holds this name, and hold it until its end. */
  serialize(transaction: DatabaseTransaction, name: string): Promise<void>
  /** Tells every replica, this one included, once the transaction has been committed. */
  notify(transaction: DatabaseTransaction, topic: Topic, text: string): Promise<void>
}

/** Of a database that one process has for itself: its transactions run one after the other anyway. */
export const ALONE: Coordination = {
  async serialize() {},
  async notify() {},
}

/** A newer version wrote the tables. The message continues a sentence about the database. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError'

  constructor(migrations: readonly string[]) {
    super(
      `was written by a newer version, with ${migrations.join(', ')}: run that version, or restore the backup from before`,
    )
  }
}

/**
 * Opens tables of any kind, and brings them up to date. Migrations run in one transaction: an interrupted start leaves
 * the tables as they were.
 * @throws NewerSchemaError when a newer version wrote them; the database's error when it fails
 */
export async function openTables<S>(dialect: Dialect, tables: TableSet): Promise<Kysely<S>> {
  const { migrations, migrationTable } = tables
  const database = new Kysely<S>({ dialect })
  const provider = { getMigrations: async () => migrations }
  const names = migrationTable !== undefined && {
    migrationTableName: migrationTable,
    migrationLockTableName: `${migrationTable}_lock`,
  }
  try {
    if (!(await isUpToDate(database, tables))) {
      const { error } = await new Migrator({ db: database, provider, ...names }).migrateToLatest()
      if (error !== undefined) throw error
    }
    return database
  } catch (error) {
    await database.destroy()
    throw error
  }
}

/**
 * Reads which migrations were run. A start with nothing to migrate waits for no lock.
 * @throws NewerSchemaError when one of them is not known here
 */
async function isUpToDate<S>(
  database: Kysely<S>,
  { migrations, migrationTable = DEFAULT_MIGRATION_TABLE }: TableSet,
): Promise<boolean> {
  const reading = sql<{ name: string }>`select name from ${sql.table(migrationTable)} order by name`
  // There is no such table yet; the migrator meets any other failure again.
  const { rows } = await reading.execute(database).catch(() => ({ rows: [] }))
  const newer = rows.map(({ name }) => name).filter((name) => migrations[name] === undefined)
  if (newer.length > 0) throw new NewerSchemaError(newer)
  return rows.length === Object.keys(migrations).length
}
