import { ServiceError } from '../../../packages/protocol/src/errors.js'
import {
  registrationMessage,
  unregistrationMessage,
} from '../../../packages/protocol/src/solvers/registration-messages.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { EndpointGuard } from '../transport/endpoint-guard.js'
import type { RegistryContext } from './context.js'
import { assertSigned, type SignedRequest } from './signed-request.js'
import type { SolverPlaces } from './solver-places.js'

/** The result of the check of an endpoint, with an explanation for its developer. A check is not cancelled when its caller leaves. */
export interface RegistrationCheck {
  readonly outcome: Exclude<SolverResult['kind'], 'soft_deadline' | 'circuit_open' | 'cancelled'> | 'skipped'
  readonly explanation: string
}

/** A signed registration. */
interface Registration extends SignedRequest {
  readonly endpointUrl: string
  readonly name: string
}

/**
 * Adds or updates a solver. The order of the checks is: the timestamp's window, signature, timestamp, block list,
 * endpoint, place on the chain, bond. Then a name in the endpoint is resolved, and the endpoint is tried, so that only a solver
 * with a bond causes lookups and requests. The checks before the signature reveal nothing about the address. On a full chain,
 * the new solver replaces the one that has been without a sufficient bond for the longest time, if that is longer than the grace
 * (docs/decisions.md, D14).
 * @returns the result of the trial, when this replica uses the solver
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED, SOLVER_BLOCKED, ENDPOINT_REJECTED,
 *   SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT, RATE_LIMITED or CHAIN_UNAVAILABLE. Then nothing is stored.
 */
export type RegisterSolver = (registration: Registration) => Promise<RegistrationCheck>

/**
 * Tries the endpoint of a solver with one request (docs/decisions.md, D23).
 * @throws ServiceError ENDPOINT_REJECTED when the endpoint answers for another solver
 */
type TryEndpoint = (solver: Registration) => Promise<RegistrationCheck>

/** Builds the use case. */
export function createRegisterSolver(
  context: RegistryContext,
  places: SolverPlaces,
  endpointGuard: EndpointGuard,
  tryEndpoint: TryEndpoint,
): RegisterSolver {
  const { config, instance, clock } = context
  const { protocolName, maxSolversPerChain } = config
  const shareCheck = createEndpointChecks()

  /** The place and the bond are read again afterwards, as a lookup and a trial may take some seconds. */
  async function assertEndpoint(registration: Registration): Promise<RegistrationCheck> {
    const { endpointUrl } = registration
    const needsLookup = endpointGuard.needsLookup(endpointUrl)
    if (!needsLookup) await endpointGuard.assertAllowed(endpointUrl)
    places.findPlace(registration)
    await places.readSufficientBond(registration)
    return shareCheck(registration, async () => {
      if (needsLookup) await endpointGuard.assertAllowed(endpointUrl)
      return tryEndpoint(registration)
    })
  }

  return async (registration) => {
    await assertSigned(registration, registrationMessage(protocolName, registration), context)
    await places.assertNotBlocked(registration)
    const trial = await assertEndpoint(registration)
    const place = places.findPlace(registration)
    const bond = await places.readSufficientBond(registration)
    const { chainId, address, endpointUrl, name, timestamp } = registration
    const solver = { chainId, address, endpointUrl, name, registeredAt: clock.now(), isBonded: true }
    await places.take(registration, place, bond, (replaceable) =>
      instance.stores.solvers.save(solver, timestamp, maxSolversPerChain, replaceable),
    )
    return trial
  }
}

/**
 * Removes a solver. It resolves when this replica no longer uses the solver.
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED or SOLVER_NOT_FOUND
 */
export type UnregisterSolver = (request: SignedRequest) => Promise<void>

/** Builds the use case. */
export function createUnregisterSolver(context: RegistryContext): UnregisterSolver {
  const { config, instance, directory } = context
  return async (request) => {
    await assertSigned(request, unregistrationMessage(config.protocolName, request), context)
    await directory.change(request.chainId, () => instance.stores.solvers.remove(request, request.timestamp))
  }
}

interface Check {
  readonly endpointUrl: string
  readonly trial: Promise<RegistrationCheck>
}

/** The most solvers of a chain whose endpoints are checked at the same time. */
const MAX_PER_CHAIN = 32
const RETRY_AFTER_SECONDS = 3

/**
 * Builds the function that checks endpoints. To resolve a name takes seconds when a name server is slow, and a trial takes one. A solver
 * has at most one check at a time, and a chain at most 32. Others are rejected and do not wait.
 * @returns a function that throws ServiceError RATE_LIMITED
 */
export function createEndpointChecks() {
  const underWay = new Map<number, Map<Address, Check>>()

  return (
    { chainId, address, endpointUrl }: Registration,
    check: () => Promise<RegistrationCheck>,
  ): Promise<RegistrationCheck> => {
    const checks = underWay.get(chainId) ?? new Map<Address, Check>()
    underWay.set(chainId, checks)
    const known = checks.get(address)
    if (known?.endpointUrl === endpointUrl) return known.trial
    if (known !== undefined || checks.size >= MAX_PER_CHAIN) return Promise.reject(busy())
    const trial = check().finally(() => checks.delete(address))
    checks.set(address, { endpointUrl, trial })
    return trial
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
