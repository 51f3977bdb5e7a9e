import { ServiceError } from '../../../packages/protocol/src/errors.js'
import {
  type Bond,
  isBondSufficient,
  replaceableSolvers,
  type Solver,
  type SolverKey,
  solverBlocked,
  solverLimitReached,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Replaceable } from '../../store/solvers/solver-statements.js'
import type { BondWatch } from '../bonds/bond-watch.js'
import type { RegistryContext } from './context.js'

/** A place on a chain for one more solver, as far as is known. */
export interface FreePlace {
  /** The solvers of which the new solver may replace one; none when there is a free place or when it has one. */
  readonly candidates: readonly Solver[]
  /** Unix time in milliseconds: a solver that had a sufficient bond at that time or later is not replaced. */
  readonly unbondedBefore: number
}

/** The most bonds that a new solver on a full chain has read again. */
const MAX_CONFIRMED = 10

/** The places of solvers on chains. */
export type SolverPlaces = ReturnType<typeof createSolverPlaces>

/**
 * Builds the steps in which a solver gets a place on a chain, by an endpoint or by a session (docs/decisions.md, D14). They are taken in
 * this order.
 */
export function createSolverPlaces(
  { config, instance, directory, chains, clock, log }: RegistryContext,
  bondWatch: BondWatch,
) {
  const { minSolverBond, maxSolversPerChain, unbondedGraceMs } = config
  const store = instance.stores.solvers

  async function readBond({ chainId, address }: SolverKey): Promise<Bond | undefined> {
    const bond = await chains.get(chainId)?.readBond(address)
    return bond !== undefined && isBondSufficient(bond, minSolverBond) ? bond : undefined
  }

  /** Reads the candidates' bonds again. A candidate that has its bond again stays, and becomes active. */
  async function confirmUnbonded(candidates: readonly Solver[]): Promise<Address[]> {
    const bonds = await Promise.all(candidates.map(readBond))
    for (const solver of candidates.filter((_, index) => bonds[index]))
      await directory.change(solver.chainId, () => store.setBonded(solver, true, clock.now()))
    return candidates.filter((_, index) => !bonds[index]).map(({ address }) => address)
  }

  return {
    /** @throws ServiceError SOLVER_BLOCKED */
    async assertNotBlocked(key: SolverKey): Promise<void> {
      if (await store.isBlocked(key)) throw solverBlocked()
    },

    /**
     * Refuses a solver without a place before its bond is read. The store's transaction checks the limit again and decides.
     * @throws ServiceError SOLVER_LIMIT_REACHED
     */
    findPlace(key: SolverKey): FreePlace {
      // The clock decides, also on a chain without new blocks: the candidates' bonds are read again.
      const unbondedBefore = clock.now() - unbondedGraceMs
      const registered = directory.registered(key.chainId)
      if (directory.find(key) !== undefined || registered.length < maxSolversPerChain)
        return { candidates: [], unbondedBefore }
      const candidates = replaceableSolvers(registered, unbondedBefore)
      if (candidates.length === 0) throw solverLimitReached(maxSolversPerChain)
      return { candidates: candidates.slice(0, MAX_CONFIRMED), unbondedBefore }
    },

    /** Reads the solver's bond. @throws ServiceError BOND_INSUFFICIENT or CHAIN_UNAVAILABLE */
    async readSufficientBond(key: SolverKey): Promise<Bond> {
      const bond = await readBond(key)
      if (bond !== undefined) return bond
      throw new ServiceError(
        'BOND_INSUFFICIENT',
        `The solver must have a bond of at least ${minSolverBond} on the settlement contract.`,
      )
    },

    /**
     * Writes the solver. On a full chain, it replaces the one that has been without a sufficient bond for the longest time,
     * if that is longer than the grace, and a fresh read confirms it. It resolves when this replica has the solver and its bond.
     * @param write writes the solver to the store, and returns the one that it has replaced
     * @throws the error of the write
     */
    async take(
      key: SolverKey,
      { candidates, unbondedBefore }: FreePlace,
      bond: Bond,
      write: (replaceable: Replaceable) => Promise<Address | undefined>,
    ): Promise<void> {
      const { chainId, address } = key
      const addresses = await confirmUnbonded(candidates)
      const replaced = await directory.change(chainId, () => write({ addresses, unbondedBefore }))
      if (replaced !== undefined)
        log.info({ chainId, solver: address, replaced }, 'a new solver has replaced one without a bond')
      await bondWatch.onRegistered(key, bond)
    },
  }
}
