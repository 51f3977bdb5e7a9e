import { ConfigError } from '../environment.js'
import { migrations } from './migrations.js'

/**
 * Checks that a database has the tables of this version.
 * @param variable the variable with the database's name
 * @param applied the names of its applied migrations
 * @throws ConfigError
 */
export function assertOwnVersion(variable: string, applied: readonly string[]): void {
  const newer = applied.filter((name) => migrations[name] === undefined)
  const refuse = (message: string) => new ConfigError([{ variable, message }])
  if (newer.length > 0)
    throw refuse(`names a database of a newer version, with ${newer.join(', ')}: use that version`)
  if (applied.length < Object.keys(migrations).length)
    throw refuse('names a database that this version has not opened yet: start the service once')
}
