import { registrationMessage } from '../domain/registration-messages.js'
import type { SolverStore } from '../store/solver-store.js'
import { createEndpointChecks } from './endpoint-checks.js'
import type { EndpointGuard } from './endpoint-guard.js'
import { assertSigned, type SignedRequest } from './signed-request.js'
import { createSolverPlaces, type SolverPlacesOptions } from './solver-places.js'

/** A signed registration. */
export interface Registration extends SignedRequest {
  readonly endpointUrl: string
  readonly name: string
}

/**
 * Adds or updates a solver. The order of the checks is: the timestamp's window, signature, timestamp, block list,
 * endpoint, room on the chain, bond. A name in the endpoint is resolved last, so that only a solver with a bond causes
 * lookups. The checks before the signature reveal nothing about the address. On a full chain, the new solver replaces
 * the one that has been without a sufficient bond for the longest time, if that is longer than the grace
 * (docs/decisions.md, D14). It resolves when this replica uses the solver.
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED, SOLVER_BLOCKED, ENDPOINT_REJECTED,
 *   SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT, RATE_LIMITED or CHAIN_UNAVAILABLE
 */
export type RegisterSolver = (registration: Registration) => Promise<void>

interface RegisterSolverOptions extends SolverPlacesOptions {
  readonly store: SolverPlacesOptions['store'] & Pick<SolverStore, 'lastTimestamp' | 'save'>
  readonly endpointGuard: Pick<EndpointGuard, 'needsLookup' | 'assertAllowed'>
  readonly protocolName: string
}

/** Builds the use case. */
export function createRegisterSolver(options: RegisterSolverOptions): RegisterSolver {
  const { store, endpointGuard, protocolName, maxSolversPerChain, now } = options
  const places = createSolverPlaces(options)
  const checkEndpoint = createEndpointChecks(endpointGuard)

  /**
   * Resolves a name only for a solver that has room and a bond. The caller checks both again afterwards, as a lookup may
   * take some seconds.
   */
  async function assertEndpoint(registration: Registration): Promise<void> {
    const { endpointUrl } = registration
    if (!endpointGuard.needsLookup(endpointUrl)) return endpointGuard.assertAllowed(endpointUrl)
    places.findRoom(registration)
    await places.readSufficientBond(registration)
    await checkEndpoint(registration, endpointUrl)
  }

  return async (registration) => {
    await assertSigned(registration, registrationMessage(protocolName, registration), options)
    await places.assertNotBlocked(registration)
    await assertEndpoint(registration)
    const room = places.findRoom(registration)
    const bond = await places.readSufficientBond(registration)
    const { chainId, address, endpointUrl, name, timestamp } = registration
    const solver = { chainId, address, endpointUrl, name, registeredAt: now(), isBonded: true }
    await places.take(registration, room, bond, (replaceable) =>
      store.save(solver, timestamp, maxSolversPerChain, replaceable),
    )
  }
}
