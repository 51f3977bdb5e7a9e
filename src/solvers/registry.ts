import { isDeepStrictEqual } from 'node:util'
import type { Chain } from '../chain/chain.js'
import type { ClusterBus } from '../domain/cluster.js'
import { ServiceError } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import { registrationMessage, unregistrationMessage } from '../domain/registration-messages.js'
import {
  type Bond,
  isBondSufficient,
  replaceableSolvers,
  type Solver,
  type SolverKey,
  solverBlocked,
  solverLimitReached,
  TIMESTAMP_TOLERANCE_MS,
  timestampReused,
  withBond,
} from '../domain/solver.js'
import { personalMessageDigest } from '../signing/personal-message.js'
import { checkSignature } from '../signing/recover.js'
import type { Replaceable, SolverStore } from '../store/solver-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createEndpointChecks } from './endpoint-checks.js'
import type { EndpointGuard } from './endpoint-guard.js'
import type { FreeBonds } from './free-bonds.js'
import { createRefresher } from './refresher.js'
import { createSolverSets } from './solver-sets.js'

/** A signed request of a solver; `timestamp` is in Unix milliseconds. */
export interface SignedRequest extends SolverKey {
  readonly timestamp: number
  readonly signature: Hex
}

/** A signed registration. */
export interface Registration extends SignedRequest {
  readonly endpointUrl: string
  readonly name: string
}

/** The set of registered solvers, in memory for quotes and in the store for restarts. */
export interface Registry {
  /** The active solvers of a chain, the longest registered first. The array is replaced, never changed. */
  active(chainId: number): readonly Solver[]
  /** All registered solvers of a chain, also those without a sufficient bond. */
  registered(chainId: number): readonly Solver[]
  /**
   * Adds or updates a solver. The order of the checks is: the timestamp's window, signature, timestamp, block list,
   * endpoint, room on the chain, bond. A name in the endpoint is resolved last, so that only a solver with a bond causes
   * lookups. The checks before the signature reveal nothing about the address. On a full chain, the new solver replaces
   * the one that has been without a sufficient bond for the longest time, if that is longer than the grace
   * (docs/decisions.md, D14).
   * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED, SOLVER_BLOCKED, ENDPOINT_REJECTED,
   *   SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT, RATE_LIMITED or CHAIN_UNAVAILABLE
   */
  register(registration: Registration): Promise<void>
  /** @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED or SOLVER_NOT_FOUND */
  unregister(request: SignedRequest): Promise<void>
  /** Sets whether a solver has a sufficient bond; without one it is not active (docs/decisions.md, D5). */
  setBonded(key: SolverKey, isBonded: boolean): Promise<void>
  /**
   * Removes a solver that has been without a sufficient bond since before a time in Unix milliseconds.
   * @returns whether it was removed
   */
  removeUnbonded(key: SolverKey, unbondedBefore: number): Promise<boolean>
  /** Reads the chain's solvers from the store again: another process may have changed them. */
  refresh(chainId: number): void
  /** Stops following the changes of other replicas. */
  close(): void
}

interface RegistryOptions {
  readonly store: SolverStore
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly chains: ReadonlyMap<number, Chain>
  readonly freeBonds: Pick<FreeBonds, 'updateRegistered'>
  readonly endpointGuard: EndpointGuard
  readonly protocolName: string
  readonly minSolverBond: bigint
  readonly maxSolversPerChain: number
  readonly unbondedGraceMs: number
  readonly now: () => number
  readonly log: Logger
}

/** Builds the registry from the store, and follows the changes that other replicas make there. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { store, chains, freeBonds, endpointGuard, protocolName, maxSolversPerChain, log } = options
  const sets = createSolverSets()
  const checkEndpoint = createEndpointChecks(endpointGuard)
  const refreshers = new Map(
    [...chains.keys()].map((chainId) => [chainId, createRefresher(() => read(chainId), log)]),
  )
  options.cluster.listen('solvers', {
    onMessage: (chainId) => refreshers.get(Number(chainId))?.refresh(),
    onMissed() {
      for (const refresher of refreshers.values()) refresher.refresh()
    },
  })
  await Promise.all([...chains.keys()].map(read))

  /** Reads a chain's solvers without the blocked ones. Reads again if this replica has changed one since, as the result may lack the change. */
  async function read(chainId: number): Promise<void> {
    for (;;) {
      const before = sets.get(chainId)
      for (const solver of await store.removeBlocked(chainId))
        log.warn({ chainId, solver }, 'a blocked solver was removed: another version has registered it')
      const solvers = await store.readAll(chainId)
      if (sets.get(chainId) !== before) continue
      if (before !== undefined && isDeepStrictEqual(before.registered, solvers)) return
      sets.replace(chainId, solvers)
      logRemovals(chainId, before?.registered ?? [])
      return
    }
  }

  /** Logs the solvers that another process has removed: the command line, or another replica. */
  function logRemovals(chainId: number, before: readonly Solver[]): void {
    for (const solver of before) {
      if (sets.find(solver) === undefined)
        log.info({ chainId, solver: solver.address }, 'a solver was removed in the database')
    }
  }

  /** Reads again after a change: another process may have changed the store since this replica's own change. */
  function recheck(chainId: number): void {
    refreshers.get(chainId)?.refresh()
  }

  /** Checks the timestamp's window before the signature, and the last timestamp in the store after it. */
  async function assertSigned(request: SignedRequest, message: string): Promise<void> {
    if (Math.abs(request.timestamp - options.now()) > TIMESTAMP_TOLERANCE_MS) {
      throw new ServiceError('TIMESTAMP_OUT_OF_RANGE', 'The timestamp must be within 5 minutes of the clock.')
    }
    assertSignature(request, message)
    const last = await store.lastTimestamp(request)
    if (last !== undefined && request.timestamp <= last) throw timestampReused(last)
  }

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

  /** @returns the solvers that it may replace, as far as is known; none when there is room for it */
  function assertRoom(key: SolverKey, unbondedBefore: number): readonly Solver[] {
    const registered = sets.registered(key.chainId)
    if (sets.find(key) !== undefined || registered.length < maxSolversPerChain) return []
    const candidates = replaceableSolvers(registered, unbondedBefore)
    if (candidates.length === 0) throw solverLimitReached(maxSolversPerChain)
    return candidates.slice(0, MAX_CONFIRMED)
  }

  /** Reads the candidates' bonds again. A candidate that has its bond again stays, and becomes active. */
  async function confirmUnbonded(candidates: readonly Solver[]): Promise<Address[]> {
    const bonds = await Promise.all(candidates.map(readSufficientBond))
    for (const solver of candidates.filter((_, index) => bonds[index])) await setBonded(solver, true)
    return candidates.filter((_, index) => !bonds[index]).map(({ address }) => address)
  }

  async function readSufficientBond({ chainId, address }: SolverKey): Promise<Bond | undefined> {
    const bond = await chains.get(chainId)?.readBond(address)
    return bond !== undefined && isBondSufficient(bond, options.minSolverBond) ? bond : undefined
  }

  async function readOwnBond(key: SolverKey): Promise<Bond> {
    const bond = await readSufficientBond(key)
    if (bond !== undefined) return bond
    throw new ServiceError(
      'BOND_INSUFFICIENT',
      `The solver must have a bond of at least ${options.minSolverBond} on the settlement contract.`,
    )
  }

  async function setBonded(key: SolverKey, isBonded: boolean): Promise<void> {
    const now = options.now()
    const before = sets.find(key)
    if (before !== undefined && before !== withBond(before, isBonded, now))
      await store.setBonded(key, isBonded, now)
    const solver = sets.find(key)
    const next = solver && withBond(solver, isBonded, now)
    if (next !== undefined && next !== solver) sets.put(next)
    recheck(key.chainId)
  }

  async function save(registration: Registration, replaceable: Replaceable): Promise<void> {
    const { chainId, address, endpointUrl, name, timestamp } = registration
    const newcomer = { chainId, address, endpointUrl, name, registeredAt: options.now(), isBonded: true }
    const { solver, replaced } = await store.save(newcomer, timestamp, maxSolversPerChain, replaceable)
    if (replaced !== undefined) {
      sets.drop({ chainId, address: replaced })
      log.info({ chainId, solver: address, replaced }, 'a new solver has replaced one without a bond')
    }
    sets.put(solver)
    recheck(chainId)
  }

  return {
    active: (chainId) => sets.get(chainId)?.active ?? NO_SOLVERS,
    registered: sets.registered,

    async register(registration) {
      await assertSigned(registration, registrationMessage(protocolName, registration))
      if (await store.isBlocked(registration)) throw solverBlocked()
      const unbondedBefore = options.now() - options.unbondedGraceMs
      await assertEndpoint(registration, unbondedBefore)
      const candidates = assertRoom(registration, unbondedBefore)
      const bond = await readOwnBond(registration)
      await save(registration, { addresses: await confirmUnbonded(candidates), unbondedBefore })
      await freeBonds.updateRegistered(registration, bond)
    },

    async unregister(request) {
      await assertSigned(request, unregistrationMessage(protocolName, request))
      await store.remove(request, request.timestamp)
      sets.drop(request)
      recheck(request.chainId)
    },

    setBonded,

    async removeUnbonded(key, unbondedBefore) {
      const isRemoved = await store.removeUnbonded(key, unbondedBefore)
      if (isRemoved) sets.drop(key)
      recheck(key.chainId)
      return isRemoved
    },

    refresh: recheck,

    close() {
      for (const refresher of refreshers.values()) refresher.close()
    },
  }
}

/** Adds the numbers of solvers to the metrics. */
export function collectSolverMetrics(
  chainIds: readonly number[],
  registry: Pick<Registry, 'active' | 'registered'>,
  metrics: Pick<Metrics, 'solvers'>,
): void {
  for (const chainId of chainIds) {
    const active = registry.active(chainId).length
    metrics.solvers.set({ chain_id: chainId, state: 'active' }, active)
    metrics.solvers.set(
      { chain_id: chainId, state: 'inactive' },
      registry.registered(chainId).length - active,
    )
  }
}

/** The most bonds that the registration of a new solver on a full chain reads again. */
const MAX_CONFIRMED = 10

const NO_SOLVERS: readonly Solver[] = []

function assertSignature({ address, signature }: SignedRequest, message: string): void {
  const problem = checkSignature(
    personalMessageDigest(message),
    Buffer.from(signature.slice(2), 'hex'),
    address,
  )
  if (problem === undefined) return
  throw new ServiceError(
    'SIGNATURE_INVALID',
    'The signature is not by this address over the expected message.',
  )
}
