import type { Clock } from '../../../packages/protocol/src/clock.js'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import {
  registrationMessage,
  unregistrationMessage,
} from '../../../packages/protocol/src/solvers/registration-messages.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { EndpointGuard } from '../transport/endpoint-guard.js'
import { assertSigned, type SignedRequest } from './signed-request.js'
import type { SolverDirectory } from './solver-directory.js'
import { createSolverPlaces, type SolverPlacesOptions } from './solver-places.js'

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
export type RegisterSolver<Trial> = (registration: Registration) => Promise<Trial>

/**
 * Tries the endpoint of a solver with one request (docs/decisions.md, D23).
 * @param isStored whether it is the solver's endpoint already: only then the trial may be left out
 * @throws ServiceError ENDPOINT_REJECTED when the endpoint answers for another solver, RATE_LIMITED
 */
type TryEndpoint<Trial> = (solver: Registration, isStored: boolean) => Promise<Trial>

interface RegisterSolverOptions<Trial> extends SolverPlacesOptions {
  readonly store: SolverPlacesOptions['store'] & Pick<SolverStore, 'lastTimestamp' | 'save'>
  readonly endpointGuard: Pick<EndpointGuard, 'needsLookup' | 'assertAllowed'>
  readonly tryEndpoint: TryEndpoint<Trial>
  readonly protocolName: string
}

/** Builds the use case. */
export function createRegisterSolver<Trial>(options: RegisterSolverOptions<Trial>): RegisterSolver<Trial> {
  const { store, directory, endpointGuard, protocolName, maxSolversPerChain, clock } = options
  const places = createSolverPlaces(options)
  const checkEndpoint = createEndpointChecks(endpointGuard)

  /** The place and the bond are read again afterwards, as a lookup and a trial may take some seconds. */
  async function assertEndpoint(registration: Registration): Promise<Trial> {
    const { endpointUrl } = registration
    const needsLookup = endpointGuard.needsLookup(endpointUrl)
    if (!needsLookup) await endpointGuard.assertAllowed(endpointUrl)
    places.findPlace(registration)
    await places.readSufficientBond(registration)
    if (needsLookup) await checkEndpoint(registration, endpointUrl)
    const isStored = directory.find(registration)?.endpointUrl === endpointUrl
    return options.tryEndpoint(registration, isStored)
  }

  return async (registration) => {
    await assertSigned(registration, registrationMessage(protocolName, registration), options)
    await places.assertNotBlocked(registration)
    const trial = await assertEndpoint(registration)
    const place = places.findPlace(registration)
    const bond = await places.readSufficientBond(registration)
    const { chainId, address, endpointUrl, name, timestamp } = registration
    const solver = { chainId, address, endpointUrl, name, registeredAt: clock.now(), isBonded: true }
    await places.take(registration, place, bond, (replaceable) =>
      store.save(solver, timestamp, maxSolversPerChain, replaceable),
    )
    return trial
  }
}

interface UnregisterSolverOptions {
  readonly store: Pick<SolverStore, 'lastTimestamp' | 'remove'>
  readonly directory: Pick<SolverDirectory, 'change'>
  readonly protocolName: string
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Removes a solver. It resolves when this replica no longer uses the solver.
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED or SOLVER_NOT_FOUND
 */
export type UnregisterSolver = (request: SignedRequest) => Promise<void>

/** Builds the use case. */
export function createUnregisterSolver(options: UnregisterSolverOptions): UnregisterSolver {
  const { store, directory, protocolName } = options
  return async (request) => {
    await assertSigned(request, unregistrationMessage(protocolName, request), options)
    await directory.change(request.chainId, () => store.remove(request, request.timestamp))
  }
}

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
function createEndpointChecks(guard: Pick<EndpointGuard, 'assertAllowed'>) {
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
