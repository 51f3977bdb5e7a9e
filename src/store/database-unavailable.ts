import { ServiceError } from '../domain/errors.js'

/**
 * Makes a store's failures say when the database is their cause.
 * @param causeOf says for an operator what is wrong with the database; undefined when the statement itself has failed
 * @returns the store, whose methods throw ServiceError DATABASE_UNAVAILABLE with that cause
 */
export function nameUnavailable<S extends object>(store: S, causeOf: (error: unknown) => unknown): S {
  const guarded = Object.entries(store).map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      method(...args).catch((error: unknown) => {
        const cause = causeOf(error)
        throw cause === undefined ? error : databaseUnavailable(cause)
      }),
  ])
  return Object.fromEntries(guarded)
}

function databaseUnavailable(cause: unknown): ServiceError {
  const message = 'The database of this service does not answer at the moment: try again in some seconds.'
  return new ServiceError('DATABASE_UNAVAILABLE', message, { cause })
}
