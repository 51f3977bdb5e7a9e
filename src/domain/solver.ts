import { ServiceError } from './errors.js'
import type { Address } from './hex.js'

/** Which solver of which chain. */
export interface SolverKey {
  readonly chainId: number
  readonly address: Address
}

/** A registered solver of one chain. */
export interface Solver extends SolverKey {
  readonly endpointUrl: string
  readonly name: string
  /** When it was first registered, Unix time in milliseconds. */
  readonly registeredAt: number
  /** Whether its bond sufficed when it was last read; it is neither asked nor listed otherwise. */
  readonly isBonded: boolean
  /** Since when its bond does not suffice, Unix time in milliseconds; absent while it does, or before it is known. */
  readonly unbondedSince?: number
}

/** A solver's bond on the settlement contract, in the bond token's smallest unit. */
export interface Bond {
  readonly registered: boolean
  readonly total: bigint
  /** The part that open orders have reserved. */
  readonly reserved: bigint
  readonly unstaking: bigint
}

/** How far a signed timestamp may be from the clock, either way (docs/protocol.md, "Limits and defaults"). */
export const TIMESTAMP_TOLERANCE_MS = 5 * 60_000

/** How long a registration without a sufficient bond is kept (docs/decisions.md, D14). */
export const UNBONDED_LIFETIME_MS = 24 * 3_600_000

/** The solver with its bond as it was just read, at `now` in Unix milliseconds; itself when that is known already. */
export function withBond(solver: Solver, isBonded: boolean, now: number): Solver {
  if (solver.isBonded === isBonded && (isBonded || solver.unbondedSince !== undefined)) return solver
  const { unbondedSince = now, ...rest } = solver
  return isBonded ? { ...rest, isBonded } : { ...rest, isBonded, unbondedSince }
}

/**
 * The solvers whose place a newcomer may take, the one without a sufficient bond for the longest time first.
 * @param before Unix time in milliseconds: those that had a sufficient bond at that time or later keep their places
 */
export function replaceableSolvers(solvers: readonly Solver[], before: number): Solver[] {
  const since = ({ unbondedSince = Number.POSITIVE_INFINITY }: Solver) => unbondedSince
  return solvers.filter((solver) => since(solver) < before).sort((one, other) => since(one) - since(other))
}

/** Whether a bond, less what is being unstaked, allows its solver to quote (docs/decisions.md, D5). */
export function isBondSufficient(bond: Bond, minimum: bigint): boolean {
  return bond.registered && bond.total - bond.unstaking >= minimum
}

/** The part of a bond that can back new orders: neither reserved nor being unstaked, at least 0 (docs/decisions.md, D13). */
export function freeBondOf({ total, reserved, unstaking }: Bond): bigint {
  const free = total - reserved - unstaking
  return free > 0n ? free : 0n
}

/** The refusal of a timestamp that is not newer than the last accepted one. */
export function timestampReused(last: number): ServiceError {
  return new ServiceError(
    'TIMESTAMP_REUSED',
    `The timestamp must be newer than the last accepted one, ${last}.`,
  )
}

/** The refusal of one solver too many. */
export function solverLimitReached(maxPerChain: number): ServiceError {
  return new ServiceError(
    'SOLVER_LIMIT_REACHED',
    `This chain has its ${maxPerChain} solvers already, and none can be replaced now.`,
  )
}

/** The refusal of an address that the operator has removed. */
export function solverBlocked(): ServiceError {
  return new ServiceError('SOLVER_BLOCKED', 'The operator of this instance has blocked this address.')
}
