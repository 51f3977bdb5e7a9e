import { readDatabaseLocation } from '../config/database-url.js'
import { EnvironmentReader } from '../config/environment.js'
import { DEFAULTS } from '../config/variables.js'
import { ServiceError } from '../domain/errors.js'
import type { OperatorStores } from '../store/operator/operator-stores.js'
import { EXIT } from './exit-codes.js'
import { CommandFailure } from './failure.js'
import type { CliIo } from './io.js'

const DATABASE_HELP = `
It works on the database that DB_PATH or DATABASE_URL names, whether the service runs or not.`

/** The help text of each command on the database. @param follows says when a running service knows of the change */
export const ownDatabaseHelp = (follows: string, ...examples: string[]): string =>
  `${DATABASE_HELP}\n${follows}\n\nExample:\n${examples.map((example) => `  quote-aggregator ${example}`).join('\n')}`

/**
 * Runs an action on the database of the operator's own instance.
 * @throws CommandFailure with what to do, instead of the database's errors
 */
export async function withOperatorStores<T>(
  io: CliIo,
  work: (stores: OperatorStores) => Promise<T>,
): Promise<T> {
  try {
    const env = new EnvironmentReader(io.environment(), DEFAULTS)
    const location = readDatabaseLocation(env)
    env.assertValid()
    const { openOperatorStores } = await import('../store/operator/open-operator-stores.js')
    const stores = await openOperatorStores(location)
    try {
      return await work(stores)
    } finally {
      await stores.close()
    }
  } catch (error) {
    throw toFailure(error)
  }
}

function toFailure(error: unknown): unknown {
  if (error instanceof ServiceError)
    return new CommandFailure(EXIT.unavailable, `${error.message} (${error.reason})`)
  const { code } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || !code?.startsWith('SQLITE_')) return error
  const message = `The file in DB_PATH cannot be used: ${error.message} (${code})`
  return new CommandFailure(EXIT.unavailable, message)
}
