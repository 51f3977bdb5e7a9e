import type { Migration } from 'kysely'
import { ConfigError } from '../config/environment.js'
import { unknownMigrations } from './database.js'
import { initial } from './migrations/001-initial.js'
import { noCircuitBreakers } from './migrations/002-no-circuit-breakers.js'
import { ageOfOffers } from './migrations/003-age-of-offers.js'
import { changedKeys } from './migrations/004-changed-keys.js'

/** The migrations by name, applied in the order of the names. A released migration is never changed. */
export const migrations: Record<string, Migration> = {
  '001-initial': initial,
  '002-no-circuit-breakers': noCircuitBreakers,
  '003-age-of-offers': ageOfOffers,
  '004-changed-keys': changedKeys,
}

/**
 * Checks that a database has the tables of this version.
 * @param variable the variable with the database's name
 * @param applied the names of its applied migrations
 * @param own those of this version
 * @throws ConfigError
 */
export function assertOwnVersion(
  variable: string,
  applied: readonly string[],
  own: Readonly<Record<string, Migration>> = migrations,
): void {
  const unknown = unknownMigrations(applied, own)
  const refuse = (message: string) => new ConfigError([{ variable, message }])
  if (unknown !== undefined) throw refuse(`names a database that ${unknown}`)
  if (applied.length < Object.keys(own).length)
    throw refuse('names a database that this version has not opened yet: start the service once')
}
