import type { Chain } from '../chain/chain.js'
import { ServiceError } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import { registrationMessage } from '../domain/registration-messages.js'
import {
  type Bond,
  isBondSufficient,
  replaceableSolvers,
  type Solver,
  type SolverKey,
  solverBlocked,
  solverLimitReached,
} from '../domain/solver.js'
import type { SolverStore } from '../store/solver-store.js'
import type { Logger } from '../telemetry/log.js'
import type { BondWatch } from './bond-watch.js'
import { createEndpointChecks } from './endpoint-checks.js'
import type { EndpointGuard } from './endpoint-guard.js'
import { assertSigned, type SignedRequest } from './signed-request.js'
import type { SolverDirectory } from './solver-directory.js'

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

interface RegisterSolverOptions {
  readonly store: Pick<SolverStore, 'lastTimestamp' | 'isBlocked' | 'save' | 'setBonded'>
  readonly directory: Pick<SolverDirectory, 'registered' | 'find' | 'change'>
  readonly chains: ReadonlyMap<number, Pick<Chain, 'readBond'>>
  readonly bondWatch: Pick<BondWatch, 'onRegistered'>
  readonly endpointGuard: Pick<EndpointGuard, 'needsLookup' | 'assertAllowed'>
  readonly protocolName: string
  readonly minSolverBond: bigint
  readonly maxSolversPerChain: number
  readonly unbondedGraceMs: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/** The most bonds that the registration of a new solver on a full chain reads again. */
const MAX_CONFIRMED = 10

/** Builds the use case. */
export function createRegisterSolver(options: RegisterSolverOptions): RegisterSolver {
  const { store, directory, chains, bondWatch, endpointGuard, protocolName, now, log } = options
  const { minSolverBond, maxSolversPerChain, unbondedGraceMs } = options
  const checkEndpoint = createEndpointChecks(endpointGuard)

  /**
   * Resolves a name only for a solver that has room and a bond. The caller checks both again afterwards, as a lookup may
   * take some seconds.
   */
  async function assertEndpoint(registration: Registration, unbondedBefore: number): Promise<void> {
    const { endpointUrl } = registration
    if (!endpointGuard.needsLookup(endpointUrl)) return endpointGuard.assertAllowed(endpointUrl)
    assertRoom(registration, unbondedBefore)
    await readOwnBond(registration)
    await checkEndpoint(registration, endpointUrl)
  }

  /**
   * Refuses a solver without room before its bond is read. The store's transaction checks the limit again and decides.
   * @returns the solvers that it may replace, as far as is known; none when there is room for it
   */
  function assertRoom(key: SolverKey, unbondedBefore: number): readonly Solver[] {
    const registered = directory.registered(key.chainId)
    if (directory.find(key) !== undefined || registered.length < maxSolversPerChain) return []
    const candidates = replaceableSolvers(registered, unbondedBefore)
    if (candidates.length === 0) throw solverLimitReached(maxSolversPerChain)
    return candidates.slice(0, MAX_CONFIRMED)
  }

  async function readSufficientBond({ chainId, address }: SolverKey): Promise<Bond | undefined> {
    const bond = await chains.get(chainId)?.readBond(address)
    return bond !== undefined && isBondSufficient(bond, minSolverBond) ? bond : undefined
  }

  async function readOwnBond(key: SolverKey): Promise<Bond> {
    const bond = await readSufficientBond(key)
    if (bond !== undefined) return bond
    throw new ServiceError(
      'BOND_INSUFFICIENT',
      `The solver must have a bond of at least ${minSolverBond} on the settlement contract.`,
    )
  }

  /** Reads the candidates' bonds again. A candidate that has its bond again stays, and becomes active. */
  async function confirmUnbonded(candidates: readonly Solver[]): Promise<Address[]> {
    const bonds = await Promise.all(candidates.map(readSufficientBond))
    for (const solver of candidates.filter((_, index) => bonds[index]))
      await directory.change(solver.chainId, () => store.setBonded(solver, true, now()))
    return candidates.filter((_, index) => !bonds[index]).map(({ address }) => address)
  }

  async function save(registration: Registration, addresses: Address[], unbondedBefore: number) {
    const { chainId, address, endpointUrl, name, timestamp } = registration
    const solver = { chainId, address, endpointUrl, name, registeredAt: now(), isBonded: true }
    const replaceable = { addresses, unbondedBefore }
    const write = () => store.save(solver, timestamp, maxSolversPerChain, replaceable)
    const replaced = await directory.change(chainId, write, addresses)
    if (replaced !== undefined)
      log.info({ chainId, solver: address, replaced }, 'a new solver has replaced one without a bond')
  }

  return async (registration) => {
    await assertSigned(registration, registrationMessage(protocolName, registration), options)
    if (await store.isBlocked(registration)) throw solverBlocked()
    const unbondedBefore = now() - unbondedGraceMs
    await assertEndpoint(registration, unbondedBefore)
    const candidates = assertRoom(registration, unbondedBefore)
    const bond = await readOwnBond(registration)
    await save(registration, await confirmUnbonded(candidates), unbondedBefore)
    await bondWatch.onRegistered(registration, bond)
  }
}
