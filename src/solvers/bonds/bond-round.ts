import type { Chain } from '../../chain/chain.js'
import {
  isBondSufficient,
  replaceableSolvers,
  type Solver,
  UNBONDED_LIFETIME_MS,
  withBond,
} from '../../domain/solvers/solver.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { Logger } from '../../telemetry/log.js'
import type { SolverDirectory } from '../registry/solver-directory.js'
import type { FreeBonds } from './free-bonds.js'

export interface BondRoundOptions {
  readonly store: Pick<SolverStore, 'removeUnbonded' | 'setBonded'>
  readonly directory: Pick<SolverDirectory, 'change'>
  readonly freeBonds: Pick<FreeBonds, 'update'>
  readonly minSolverBond: bigint
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  /** The time by which solvers are removed (see proven-time.ts). */
  readonly provenTime: () => number
  readonly log: Logger
}

/**
 * Builds a function that reads the bonds of registered solvers of one chain, stores them, and makes each solver active or
 * inactive. It removes solvers that have lacked a sufficient bond for 24 hours (docs/decisions.md, D14).
 */
export function createBondRound(
  chain: Pick<Chain, 'chainId' | 'readBond'>,
  { store, directory, freeBonds, minSolverBond, now, provenTime, log }: BondRoundOptions,
): (solvers: readonly Solver[]) => Promise<void> {
  const { chainId } = chain

  /** @param solvers those whose bond was just read as insufficient */
  async function removeUnbonded(solvers: readonly Solver[]): Promise<void> {
    const before = provenTime() - UNBONDED_LIFETIME_MS
    for (const solver of replaceableSolvers(solvers, before)) {
      const { address, unbondedSince } = solver
      if (await directory.change(chainId, () => store.removeUnbonded(solver, before)))
        log.info({ chainId, solver: address, unbondedSince }, 'a solver was removed: no bond for 24 hours')
    }
  }

  /** Sends all reads of a round in one batch. If one fails, none counts. */
  return async (solvers) => {
    if (solvers.length === 0) return
    const read = await Promise.all(
      solvers.map(async (solver) => ({ solver, bond: await chain.readBond(solver.address) })),
    )
    await freeBonds.update(chainId, new Map(read.map(({ solver, bond }) => [solver.address, bond])))
    const unbonded: Solver[] = []
    for (const { solver, bond } of read) {
      const isBonded = isBondSufficient(bond, minSolverBond)
      if (!isBonded) unbonded.push(solver)
      if (withBond(solver, isBonded, now()) === solver) continue
      await directory.change(chainId, () => store.setBonded(solver, isBonded, now()))
      if (solver.isBonded !== isBonded)
        log.info(
          { chainId, solver: solver.address, isBonded },
          'a solver is active or inactive because its bond has changed',
        )
    }
    await removeUnbonded(unbonded)
  }
}
