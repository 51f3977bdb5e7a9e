import { ServiceError } from '../../domain/errors.js'
import type { SolverKey } from '../../domain/solvers/solver.js'
import type { Address } from '../../domain/values/hex.js'
import type { EndpointGuard } from '../transport/endpoint-guard.js'

interface Check {
  readonly endpointUrl: string
  readonly verdict: Promise<void>
}

/** The most solvers of a chain whose endpoint names are resolved at the same time. */
const MAX_PER_CHAIN = 32
const RETRY_AFTER_SECONDS = 3

/**
 * Builds the check of endpoints with host names. To resolve a name takes seconds when a name server is slow. A solver has
 * at most one lookup at a time, and a chain at most 32. Others are rejected and do not wait.
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
