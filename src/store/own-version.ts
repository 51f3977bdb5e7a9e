import { ConfigError } from '../config/environment.js'
import { migrations } from './migrations.js'
import { unknownMigrations } from './unknown-migrations.js'

/**
 * Checks that a database has the tables of this version.
 * @param variable the variable with the database's name
 * @param applied the names of its applied migrations
 * @throws ConfigError
 */
export function assertOwnVersion(variable: string, applied: readonly string[]): void {
  const unknown = unknownMigrations(applied, migrations)
  const refuse = (message: string) => new ConfigError([{ variable, message }])
  if (unknown !== undefined) throw refuse(`names a database that ${unknown}`)
  if (applied.length < Object.keys(migrations).length)
    throw refuse('names a database that this version has not opened yet: start the service once')
}
