import { ServiceError } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import type { SolverKey } from '../domain/solver.js'
import type { EndpointGuard } from './endpoint-guard.js'

interface Check {
  readonly endpointUrl: string
  readonly verdict: Promise<void>
}

/** How many solvers of a chain have the names of their endpoints looked up at the same time. */
const MAX_PER_CHAIN = 32
const RETRY_AFTER_SECONDS = 3

/**
 * Builds the check of endpoints whose names are to be looked up, which takes seconds where a name server is slow.
 * A solver has one look-up at a time, a chain has 32 at most; the others are refused and do not queue.
 * @returns a check that throws ServiceError ENDPOINT_REJECTED or RATE_LIMITED
 */
export function createEndpointChecks(guard: Pick<EndpointGuard, 'assertAllowed'>) {
  const underWay = new Map<number, Map<Address, Check>>()

  return ({ chainId, address }: SolverKey, endpointUrl: string): Promise<void> => {
    const checks = underWay.get(chainId) ?? new Map<Address, Check>()
    underWay.set(chainId, checks)
    const known = checks.get(address)
    if (known?.endpointUrl === endpointUrl) return known.verdict
    if (known !== undefined || checks.size >= MAX_PER_CHAIN) return Promise.reject(busy())
    const verdict = guard.assertAllowed(endpointUrl).finally(() => checks.delete(address))
    checks.set(address, { endpointUrl, verdict })
    return verdict
  }
}

function busy(): ServiceError {
  return new ServiceError(
    'RATE_LIMITED',
    'Other registrations are being checked: try again in some seconds.',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  )
}
