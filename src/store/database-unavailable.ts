import { ServiceError } from '../domain/errors.js'

/**
 * Wraps a store, so that its methods throw ServiceError DATABASE_UNAVAILABLE when the database is the cause.
 * @param causeOf returns what is wrong with the database, for an operator; undefined when the statement itself failed
 * @returns the wrapped store, whose errors have that cause
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

/** The error of a database that does not answer. @param cause for an operator */
export function databaseUnavailable(cause: unknown): ServiceError {
  const message = 'The database of this service does not answer at the moment: try again in some seconds.'
  return new ServiceError('DATABASE_UNAVAILABLE', message, { cause })
}
