import type { Chain } from '../chain/chain.js'
import { ServiceError } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import {
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
import type { EndpointGuard } from './endpoint-guard.js'

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
  /**
   * Checks, in this order, timestamp, signature, endpoint, place and bond, then adds or updates the solver.
   * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, TIMESTAMP_REUSED, SIGNATURE_INVALID, ENDPOINT_REJECTED,
   *   SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT or CHAIN_UNAVAILABLE
   */
  register(registration: Registration): Promise<void>
  /** @throws ServiceError TIMESTAMP_OUT_OF_RANGE, TIMESTAMP_REUSED, SIGNATURE_INVALID or SOLVER_NOT_FOUND */
  unregister(wish: SignedWish): Promise<void>
}

interface RegistryOptions {
  readonly store: SolverStore
  readonly chains: ReadonlyMap<number, Chain>
  readonly endpointGuard: EndpointGuard
  readonly protocolName: string
  readonly minSolverBond: bigint
  readonly maxSolversPerChain: number
  readonly now: () => number
}

/** Builds the registry with what the store has kept. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { store, endpointGuard, protocolName, maxSolversPerChain } = options
  const solversByChain = new Map<number, readonly Solver[]>()
  for (const solver of await store.readAll()) put(solver)

  function active(chainId: number): readonly Solver[] {
    return solversByChain.get(chainId) ?? []
  }

  function put(solver: Solver): void {
    const solvers = active(solver.chainId)
    const isNew = solvers.every(({ address }) => address !== solver.address)
    const next = isNew
      ? [...solvers, solver]
      : solvers.map((before) => (before.address === solver.address ? solver : before))
    solversByChain.set(solver.chainId, next)
  }

  async function assertTimestamp(wish: SignedWish): Promise<void> {
    if (Math.abs(wish.timestamp - options.now()) > TIMESTAMP_TOLERANCE_MS) {
      throw new ServiceError('TIMESTAMP_OUT_OF_RANGE', 'The timestamp must be within 5 minutes of the clock.')
    }
    const last = await store.lastTimestamp(wish)
    if (last !== undefined && wish.timestamp <= last) throw timestampReused(last)
  }

  function assertPlace({ chainId, address }: SolverKey): void {
    const solvers = active(chainId)
    const isNew = solvers.every((solver) => solver.address !== address)
    if (isNew && solvers.length >= maxSolversPerChain) throw solverLimitReached(maxSolversPerChain)
  }

  async function assertBond({ chainId, address }: SolverKey): Promise<void> {
    const bond = await options.chains.get(chainId)?.readBond(address)
    if (bond !== undefined && isBondSufficient(bond, options.minSolverBond)) return
    throw new ServiceError(
      'BOND_INSUFFICIENT',
      `The solver must have a bond of at least ${options.minSolverBond} on the settlement contract.`,
    )
  }

  return {
    active,

    async register(registration) {
      const { chainId, address, endpointUrl, name, timestamp } = registration
      await assertTimestamp(registration)
      assertSigned(address, registration.signature, registrationMessage(protocolName, registration))
      await endpointGuard.assertAllowed(endpointUrl)
      assertPlace(registration)
      await assertBond(registration)
      const solver = { chainId, address, endpointUrl, name, registeredAt: options.now() }
      put(await store.save(solver, timestamp, maxSolversPerChain))
    },

    async unregister(wish) {
      await assertTimestamp(wish)
      assertSigned(wish.address, wish.signature, unregistrationMessage(protocolName, wish))
      await store.remove(wish, wish.timestamp)
      solversByChain.set(
        wish.chainId,
        active(wish.chainId).filter(({ address }) => address !== wish.address),
      )
    },
  }
}

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
