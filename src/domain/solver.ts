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
}

/** A solver's bond on the settlement contract, in the bond token's smallest unit. */
export interface Bond {
  readonly registered: boolean
  readonly total: bigint
  /** The part that open orders have reserved. */
  readonly reserved: bigint
  readonly unstaking: bigint
}

/** How far a signed timestamp may be from the clock, either way (specification, section 8). */
export const TIMESTAMP_TOLERANCE_MS = 5 * 60_000

/** Whether a bond, less what is being unstaked, allows its solver to quote (decisions.md D5). */
export function isBondSufficient(bond: Bond, minimum: bigint): boolean {
  return bond.registered && bond.total - bond.unstaking >= minimum
}

/** The part of a bond that can back new orders: neither reserved nor being unstaked, at least 0 (decisions.md D13). */
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
  return new ServiceError('SOLVER_LIMIT_REACHED', `This chain has its ${maxPerChain} solvers already.`)
}
