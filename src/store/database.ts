import { type Dialect, Kysely, type Migration, Migrator, type Transaction } from 'kysely'
import type { Topic } from '../domain/replicas.js'
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
  announce(transaction: DatabaseTransaction, topic: Topic, text: string): Promise<void>
}

/** Of a database that one process has for itself: its transactions run one after the other anyway. */
export const ALONE: Coordination = {
  async serialize() {},
  async announce() {},
}

/**
 * Opens tables of any kind, and brings them up to date.
 * @throws the migrator's error when a newer version wrote them
 */
export async function openTables<S>(dialect: Dialect, tables: TableSet): Promise<Kysely<S>> {
  const { migrations, migrationTable } = tables
  const database = new Kysely<S>({ dialect })
  const provider = { getMigrations: async () => migrations }
  const names = migrationTable !== undefined && {
    migrationTableName: migrationTable,
    migrationLockTableName: `${migrationTable}_lock`,
  }
  const { error } = await new Migrator({ db: database, provider, ...names }).migrateToLatest()
  if (error === undefined) return database
  await database.destroy()
  throw error
}
