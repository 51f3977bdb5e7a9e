import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  DEFAULT_MIGRATION_TABLE,
  type Dialect,
  Kysely,
  type Migration,
  Migrator,
  sql,
  type Transaction,
} from 'kysely'
import type { Schema } from './schema.js'
import type { Topic } from './topics.js'

export type Database = Kysely<Schema>

/** A transaction on these tables. */
export type DatabaseTransaction = Transaction<Schema>

/** Tables, by the migrations that create them, and the table that lists the applied migrations. */
export interface TableSet {
  readonly migrations: Record<string, Migration>
  /** Table of the applied migrations; Kysely's own when undefined. */
  readonly migrationTable?: string
}

/** Coordinates transactions of several processes on shared tables. */
export interface Coordination {
  /** Waits until no other transaction holds this name, and holds it until the end of the transaction. */
  serialize(transaction: DatabaseTransaction, name: string): Promise<void>
  /** Sends a message to all replicas, this one included, after the transaction has been committed. */
  notify(transaction: DatabaseTransaction, topic: Topic, text: string): Promise<void>
}

/** For a database of one process, whose transactions run one after the other. */
export const NO_COORDINATION: Coordination = {
  async serialize() {},
  async notify() {},
}

/** Another version wrote the tables, or an operator has written no key into them. The message continues a sentence about the database. */
export class UnusableTablesError extends Error {
  override readonly name = 'UnusableTablesError'
}

/**
 * Opens tables of any kind and migrates them. Migrations run in one transaction, so that an interrupted start leaves the
 * tables unchanged.
 * @throws UnusableTablesError when another version wrote them; the database's error when it fails
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
 * Reads the applied migrations. A start with nothing to migrate waits for no lock.
 * @throws UnusableTablesError when this version does not know one of them
 */
async function isUpToDate<S>(
  database: Kysely<S>,
  { migrations, migrationTable = DEFAULT_MIGRATION_TABLE }: TableSet,
): Promise<boolean> {
  const reading = sql<{ name: string }>`select name from ${sql.table(migrationTable)} order by name`
  // The table does not exist yet. Any other failure occurs again in the migrator.
  const { rows } = await reading.execute(database).catch(() => ({ rows: [] }))
  const applied = rows.map(({ name }) => name)
  const unknown = unknownMigrations(applied, migrations)
  if (unknown !== undefined) throw new UnusableTablesError(unknown)
  return rows.length === Object.keys(migrations).length
}

/**
 * Why this version cannot use a database, because it does not know one of its migrations. The text continues a sentence about
 * the database.
 * @param applied the names of its applied migrations
 * @param migrations those of this version by name, the first one first
 * @returns undefined when it knows all of them
 */
export function unknownMigrations(
  applied: readonly string[],
  migrations: Readonly<Record<string, unknown>>,
): string | undefined {
  const unknown = applied.filter((name) => migrations[name] === undefined)
  if (unknown.length === 0) return undefined
  const [initial = ''] = Object.keys(migrations)
  return applied.includes(initial)
    ? `was written by a newer version, with ${unknown.join(', ')}: run that version, or restore the backup made before the upgrade`
    : 'is from before the first release, and no version migrates it: use an empty database'
}

/** Rows of one statement, and most rows that are processed in one turn of the event loop. */
export const BATCH_ROWS = 500

/** Processes rows in batches that fit into one statement. */
export async function forEachBatch<T>(
  rows: readonly T[],
  process: (part: T[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    if (start > 0) await nextTurn()
    await process(rows.slice(start, start + BATCH_ROWS))
  }
}
