import { resolve } from 'node:path'
import type { Command } from 'commander'
import { unavailable } from '../../packages/cli/src/command-failure.js'
import type { CliIo } from '../../packages/cli/src/io.js'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import { type DatabaseLocation, readDatabaseLocation } from '../config/database-url.js'
import { EnvironmentReader } from '../config/environment.js'
import { DEFAULTS } from '../config/variables.js'
import type { OperatorStores } from '../store/operator/operator-stores.js'

const DATABASE_HELP = `
It works on the database that DB_PATH or DATABASE_URL names, whether the service runs or not.`

/** Adds what all commands on the database have. @param notes such as when a running service knows of the change */
export const takesOwnDatabase = (command: Command, notes: string, example: string): Command =>
  command
    .option('--json', 'JSON on standard output, for scripts')
    .addHelpText('after', `${DATABASE_HELP}\n${notes}\n\nExample:\n  quote-aggregator ${example}`)

/**
 * Runs an action on the database of the operator's own instance.
 * @throws CommandFailure with what to do, instead of the database's errors
 */
export async function withOperatorStores<T>(
  io: CliIo,
  work: (stores: OperatorStores) => Promise<T>,
): Promise<T> {
  const env = new EnvironmentReader(io.environment(), DEFAULTS)
  const location = readDatabaseLocation(env)
  env.assertValid()
  try {
    const { openOperatorStores } = await import('../store/operator/open-operator-stores.js')
    const stores = await openOperatorStores(location)
    try {
      return await work(stores)
    } finally {
      await stores.close()
    }
  } catch (error) {
    return throwUnusable(error, location)
  }
}

/** Says what to do about an error of a database. @throws CommandFailure, or the error when it is none of a database */
export async function throwUnusable(
  error: unknown,
  { dbPath }: Pick<DatabaseLocation, 'dbPath'>,
): Promise<never> {
  if (error instanceof ServiceError) throw unavailable(`${error.message} (${error.reason})`)
  // PostgreSQL's own refusals have a severity.
  const { code, severity } = error as { readonly code?: string; readonly severity?: string }
  if (severity === undefined && !code?.startsWith('SQLITE_')) throw error
  const { faultErrorOf } = await import('../store/sqlite/file-health.js')
  const { message } = faultErrorOf(error) ?? (error as Error)
  const place = severity === undefined ? `DB_PATH, ${resolve(dbPath)},` : 'DATABASE_URL'
  throw unavailable(`${place} cannot be used: ${message}`)
}
