import { createAggregatorClient } from '../../client/src/client.js'
import { AggregatorError } from '../../client/src/errors.js'
import { type RegistrationTerms, signRegistration } from '../../client/src/registration.js'
import type { RegistrationCheck } from '../../client/src/solvers.js'
import type { SolverAccount } from './solver-options.js'

/**
 * Registers an endpoint on a chain, at the first of the URLs that can be reached (docs/decisions.md, D5).
 * @returns what the instance has found there; undefined for one that does not check endpoints
 * @throws AggregatorError of the instance, or of the last URL when none can be reached; the errors of the account
 */
export async function registerEndpoint(
  account: SolverAccount,
  serviceUrls: readonly string[],
  terms: RegistrationTerms,
): Promise<RegistrationCheck | undefined> {
  const signed = await signRegistration(account, terms)
  const { check } = await atAny(serviceUrls, (baseUrl) =>
    createAggregatorClient({ baseUrl }).registerSolver(signed),
  )
  return check
}

/** Calls the first instance that can be reached. @throws the error of the first one that answers, or of the last one */
export async function atAny<T>(urls: readonly string[], call: (url: string) => Promise<T>): Promise<T> {
  let last: unknown
  for (const url of urls) {
    try {
      return await call(url)
    } catch (error) {
      last = error
      if (!(error instanceof AggregatorError) || error.reason !== 'CONNECTION_FAILED') break
    }
  }
  throw last
}
