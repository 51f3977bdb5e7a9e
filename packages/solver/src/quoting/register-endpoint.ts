import { randomBytes } from 'node:crypto'
import { AggregatorError } from '../../../client/src/calls/aggregator-error.js'
import { retryDelay } from '../../../client/src/calls/retry-delay.js'
import { createAggregatorClient } from '../../../client/src/client.js'
import { signRegistration } from '../../../client/src/solvers/sign-registration.js'
import { instanceSentence } from '../session/wire-forms.js'
import { chainIdsOf, type SolverParts, serviceUrlsOf } from '../solver-parts.js'
import { keepTrying } from '../waiting.js'

/** 128 bits in base64url have 22 characters. */
const SECRET_BYTES = 16
const SECRET = /^[\w-]{22,}$/
/** Refusals of a registration that the same one gets again. */
const FINAL_REFUSALS: readonly string[] = [
  'INVALID_ARGUMENT',
  'SIGNATURE_INVALID',
  'SOLVER_BLOCKED',
  'ENDPOINT_REJECTED',
  'CHAIN_NOT_SUPPORTED',
]

const isFinal = (error: unknown) => error instanceof AggregatorError && FINAL_REFUSALS.includes(error.reason)

/**
 * Registers on each chain (docs/decisions.md, D5). After a failure the next URL is tried, as with a session.
 * @throws AggregatorError of a refusal that the same registration gets again
 */
export async function registerEndpoint(parts: SolverParts, endpointUrl: string): Promise<void> {
  const { account, log, options, onError } = parts
  const serviceUrls = serviceUrlsOf(options)
  const proposal = withSecretPath(endpointUrl)
  if (proposal !== endpointUrl)
    log.warn(
      { endpointUrl, proposal },
      'strangers can guess the endpoint: give its path a part that is random, as in the proposal, and keep it',
    )
  const { protocolName, name } = options
  const terms = { protocolName, endpointUrl, name }
  for (const chainId of chainIdsOf(options)) {
    async function attempt(failures: number) {
      const baseUrl = serviceUrls[failures % serviceUrls.length] as string
      const signed = await signRegistration(account, { ...terms, chainId })
      return createAggregatorClient({ baseUrl }).registerSolver(signed)
    }
    const { check } = await keepTrying(parts, attempt, retryDelay, isFinal)
    const explanation = instanceSentence(check?.explanation ?? '')
    log.info({ chainId, explanation }, 'endpoint registered')
    // No offer of it would be taken.
    if (check?.outcome === 'INVALID' || check?.outcome === 'FAILED')
      onError(new Error(`chain ${chainId}: the endpoint is registered, but its check says: ${explanation}`))
  }
}

/**
 * Instances do not publish endpoints. Whoever knows one can ask it for quotes, or register it as its own (docs/decisions.md, D23).
 * @returns the endpoint with a new random part of its path, unless its path has a part that strangers cannot guess
 */
export function withSecretPath(endpointUrl: string): string {
  if (new URL(endpointUrl).pathname.split('/').some((part) => SECRET.test(part))) return endpointUrl
  return `${endpointUrl.replace(/\/$/, '')}/${randomBytes(SECRET_BYTES).toString('base64url')}`
}
