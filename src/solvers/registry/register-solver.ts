import { registrationMessage } from '../../domain/solvers/registration-messages.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { EndpointGuard } from '../transport/endpoint-guard.js'
import { createEndpointChecks } from './endpoint-checks.js'
import { assertSigned, type SignedRequest } from './signed-request.js'
import { createSolverPlaces, type SolverPlacesOptions } from './solver-places.js'

/** A signed registration. */
export interface Registration extends SignedRequest {
  readonly endpointUrl: string
  readonly name: string
}

/**
 * Adds or updates a solver. The order of the checks is: the timestamp's window, signature, timestamp, block list,
 * endpoint, room on the chain, bond. Then a name in the endpoint is resolved, and the endpoint is tried, so that only a solver
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
export type TryEndpoint<Trial> = (solver: Registration, isStored: boolean) => Promise<Trial>

interface RegisterSolverOptions<Trial> extends SolverPlacesOptions {
  readonly store: SolverPlacesOptions['store'] & Pick<SolverStore, 'lastTimestamp' | 'save'>
  readonly endpointGuard: Pick<EndpointGuard, 'needsLookup' | 'assertAllowed'>
  readonly tryEndpoint: TryEndpoint<Trial>
  readonly protocolName: string
}

/** Builds the use case. */
export function createRegisterSolver<Trial>(options: RegisterSolverOptions<Trial>): RegisterSolver<Trial> {
  const { store, directory, endpointGuard, protocolName, maxSolversPerChain, now } = options
  const places = createSolverPlaces(options)
  const checkEndpoint = createEndpointChecks(endpointGuard)

  /** Room and bond are read again afterwards, as a lookup and a trial may take some seconds. */
  async function assertEndpoint(registration: Registration): Promise<Trial> {
    const { endpointUrl } = registration
    const needsLookup = endpointGuard.needsLookup(endpointUrl)
    if (!needsLookup) await endpointGuard.assertAllowed(endpointUrl)
    places.findRoom(registration)
    await places.readSufficientBond(registration)
    if (needsLookup) await checkEndpoint(registration, endpointUrl)
    const isStored = directory.find(registration)?.endpointUrl === endpointUrl
    return options.tryEndpoint(registration, isStored)
  }

  return async (registration) => {
    await assertSigned(registration, registrationMessage(protocolName, registration), options)
    await places.assertNotBlocked(registration)
    const trial = await assertEndpoint(registration)
    const room = places.findRoom(registration)
    const bond = await places.readSufficientBond(registration)
    const { chainId, address, endpointUrl, name, timestamp } = registration
    const solver = { chainId, address, endpointUrl, name, registeredAt: now(), isBonded: true }
    await places.take(registration, room, bond, (replaceable) =>
      store.save(solver, timestamp, maxSolversPerChain, replaceable),
    )
    return trial
  }
}
