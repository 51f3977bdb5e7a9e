import { isDeepStrictEqual } from 'node:util'
import type { Chain } from '../chain/chain.js'
import { ServiceError } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Replicas } from '../domain/replicas.js'
import {
  type Bond,
  isBondSufficient,
  type Solver,
  type SolverKey,
  solverLimitReached,
  TIMESTAMP_TOLERANCE_MS,
  timestampReused,
} from '../domain/solver.js'
import { personalMessageDigest, registrationMessage, unregistrationMessage } from '../signing/messages.js'
import { checkSignature } from '../signing/recover.js'
import type { SolverStore } from '../store/solver-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { EndpointGuard } from './endpoint-guard.js'
import type { FreeBonds } from './free-bonds.js'
import { createMirror } from './mirror.js'

/** A signed wish of a solver; `timestamp` in Unix milliseconds. */
export interface SignedWish extends SolverKey {
  readonly timestamp: number
  readonly signature: Hex
}

/** A signed registration. */
export interface Registration extends SignedWish {
  readonly endpointUrl: string
  readonly name: string
}

/** The set of registered solvers, in memory for quotes and in the store for restarts. */
export interface Registry {
  /** The active solvers of a chain, the longest registered first. The array is replaced, never changed. */
  active(chainId: number): readonly Solver[]
  /** All registered solvers of a chain, those without a sufficient bond included. */
  registered(chainId: number): readonly Solver[]
  /**
   * Checks, in this order, timestamp, signature, endpoint, place and bond, then adds or updates the solver.
   * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, TIMESTAMP_REUSED, SIGNATURE_INVALID, ENDPOINT_REJECTED,
   *   SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT or CHAIN_UNAVAILABLE
   */
  register(registration: Registration): Promise<void>
  /** @throws ServiceError TIMESTAMP_OUT_OF_RANGE, TIMESTAMP_REUSED, SIGNATURE_INVALID or SOLVER_NOT_FOUND */
  unregister(wish: SignedWish): Promise<void>
  /** Takes note of a solver's bond: without a sufficient one it is not active (decisions.md D5). */
  setBonded(key: SolverKey, isBonded: boolean): Promise<void>
  /** From now on, what other replicas change is no longer followed. */
  close(): void
}

interface RegistryOptions {
  readonly store: SolverStore
  readonly replicas: Pick<Replicas, 'listen'>
  readonly chains: ReadonlyMap<number, Chain>
  readonly freeBonds: Pick<FreeBonds, 'noteRegistered'>
  readonly endpointGuard: EndpointGuard
  readonly protocolName: string
  readonly minSolverBond: bigint
  readonly maxSolversPerChain: number
  readonly now: () => number
  readonly log: Logger
}

/** Builds the registry with what the store has kept, and keeps up with what other replicas change there. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { store, chains, endpointGuard, protocolName, maxSolversPerChain, log } = options
  const sets = new Map<number, SolverSet>()
  const mirrors = new Map(
    [...chains.keys()].map((chainId) => [chainId, createMirror(() => read(chainId), log)]),
  )
  options.replicas.listen('solvers', {
    onText: (chainId) => mirrors.get(Number(chainId))?.refresh(),
    onMissed() {
      for (const mirror of mirrors.values()) mirror.refresh()
    },
  })
  await Promise.all([...chains.keys()].map(read))

  /** Reads a chain's solvers, anew when one was changed here meanwhile: that may not be among what was read. */
  async function read(chainId: number): Promise<void> {
    for (;;) {
      const before = sets.get(chainId)
      const solvers = await store.readAll(chainId)
      if (sets.get(chainId) !== before) continue
      if (before === undefined || !isDeepStrictEqual(before.registered, solvers)) replace(chainId, solvers)
      return
    }
  }

  /** The store's answer may be older than a change of another replica that was read already, and is undone by it. */
  function readAgain(chainId: number): void {
    mirrors.get(chainId)?.refresh()
  }

  function setOf(chainId: number): SolverSet {
    return sets.get(chainId) ?? NO_SOLVERS
  }

  function replace(chainId: number, registered: readonly Solver[]): void {
    sets.set(chainId, { registered, active: registered.filter(({ isBonded }) => isBonded) })
  }

  function find({ chainId, address }: SolverKey): Solver | undefined {
    return setOf(chainId).registered.find((solver) => solver.address === address)
  }

  function put(solver: Solver): void {
    const { registered } = setOf(solver.chainId)
    const before = find(solver)
    const next = before
      ? registered.map((other) => (other === before ? solver : other))
      : [...registered, solver]
    replace(solver.chainId, next)
  }

  async function assertTimestamp(wish: SignedWish): Promise<void> {
    if (Math.abs(wish.timestamp - options.now()) > TIMESTAMP_TOLERANCE_MS) {
      throw new ServiceError('TIMESTAMP_OUT_OF_RANGE', 'The timestamp must be within 5 minutes of the clock.')
    }
    const last = await store.lastTimestamp(wish)
    if (last !== undefined && wish.timestamp <= last) throw timestampReused(last)
  }

  function assertPlace(key: SolverKey): void {
    const isFull = setOf(key.chainId).registered.length >= maxSolversPerChain
    if (isFull && find(key) === undefined) throw solverLimitReached(maxSolversPerChain)
  }

  async function readSufficientBond({ chainId, address }: SolverKey): Promise<Bond> {
    const bond = await chains.get(chainId)?.readBond(address)
    if (bond !== undefined && isBondSufficient(bond, options.minSolverBond)) return bond
    throw new ServiceError(
      'BOND_INSUFFICIENT',
      `The solver must have a bond of at least ${options.minSolverBond} on the settlement contract.`,
    )
  }

  return {
    active: (chainId) => setOf(chainId).active,
    registered: (chainId) => setOf(chainId).registered,

    async register(registration) {
      const { chainId, address, endpointUrl, name, timestamp } = registration
      await assertTimestamp(registration)
      assertSigned(address, registration.signature, registrationMessage(protocolName, registration))
      await endpointGuard.assertAllowed(endpointUrl)
      assertPlace(registration)
      const bond = await readSufficientBond(registration)
      const solver = { chainId, address, endpointUrl, name, registeredAt: options.now(), isBonded: true }
      put(await store.save(solver, timestamp, maxSolversPerChain))
      await options.freeBonds.noteRegistered(registration, bond)
      readAgain(chainId)
    },

    async unregister(wish) {
      await assertTimestamp(wish)
      assertSigned(wish.address, wish.signature, unregistrationMessage(protocolName, wish))
      await store.remove(wish, wish.timestamp)
      const { registered } = setOf(wish.chainId)
      replace(
        wish.chainId,
        registered.filter(({ address }) => address !== wish.address),
      )
      readAgain(wish.chainId)
    },

    async setBonded(key, isBonded) {
      if (find(key)?.isBonded === !isBonded) await store.setBonded(key, isBonded)
      const solver = find(key)
      if (solver !== undefined && solver.isBonded !== isBonded) put({ ...solver, isBonded })
      readAgain(key.chainId)
    },

    close() {
      for (const mirror of mirrors.values()) mirror.close()
    },
  }
}

/** Puts the numbers of solvers into the metrics. */
export function measureSolvers(
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

/** The solvers of one chain: all, and those that may be asked. */
interface SolverSet {
  readonly registered: readonly Solver[]
  readonly active: readonly Solver[]
}

const NO_SOLVERS: SolverSet = { registered: [], active: [] }

function assertSigned(address: Address, signature: Hex, message: string): void {
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
