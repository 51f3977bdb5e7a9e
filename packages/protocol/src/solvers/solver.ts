import { ServiceError } from '../errors.js'
import type { Address } from '../values/hex.js'

/** Identifies a solver on a chain. */
export interface SolverKey {
  readonly chainId: number
  readonly address: Address
}

/** A solver's key as text, for maps. */
export function keyOf({ chainId, address }: SolverKey): string {
  return `${chainId} ${address}`
}

/**
 * Stands for the endpoint of a solver without one. It is a URL that nothing can connect to, so it also stands in the
 * database.
 */
export const NO_ENDPOINT = 'session:'

/** The connection on which a solver is asked instead of at an endpoint (docs/decisions.md, D18). */
export interface SolverSession {
  /** A UUID. */
  readonly id: string
}

/** A solver's session that another replica holds. */
export interface RemoteSession extends SolverSession {
  /** The UUID of that replica. */
  readonly replicaId: string
  /** The origin at which other replicas ask that one; undefined when they cannot. */
  readonly replicaUrl?: string
  /** Set while that replica does not answer this one. */
  readonly isCutOff?: true
}

/** Where a solver is connected. */
export interface SolverConnections {
  /** The solver's session at this replica. It takes precedence over the endpoint; undefined while there is none. */
  readonly session?: SolverSession | undefined
  /** The solver's session at another replica; undefined while there is none. */
  readonly remoteSession?: RemoteSession | undefined
}

/** A registered solver of one chain: it has an endpoint, a session, or both. */
export interface Solver extends SolverKey, SolverConnections {
  /** `NO_ENDPOINT` when the solver has only registered by sessions. */
  readonly endpointUrl: string
  readonly name: string
  /** Time of its first registration, Unix time in milliseconds. */
  readonly registeredAt: number
  /** Whether its bond sufficed at the last read. Otherwise it is neither asked nor listed. */
  readonly isBonded: boolean
  /** Since when its bond is insufficient, Unix time in milliseconds; absent while it suffices or is unknown. */
  readonly unbondedSince?: number
}

/** The session on which this replica asks a solver, here or through another replica; undefined without one. */
export function askedSession({ session, remoteSession }: SolverConnections): SolverSession | undefined {
  const canRelay = remoteSession?.replicaUrl !== undefined && remoteSession.isCutOff !== true
  return session ?? (canRelay ? remoteSession : undefined)
}

/** A solver's bond on the settlement contract, in the bond token's smallest unit. */
export interface Bond {
  readonly registered: boolean
  readonly total: bigint
  /** The part that open orders reserve. */
  readonly reserved: bigint
  readonly unstaking: bigint
  /** From when on the unstaking part can be withdrawn, Unix seconds; 0 without one. */
  readonly unlocksAt?: number
}

/** Largest difference of a signed timestamp from the clock, either way (docs/protocol.md, "Limits and defaults"). */
export const TIMESTAMP_TOLERANCE_MS = 300_000

/** Time for which a registration without a sufficient bond is kept (docs/decisions.md, D14). */
export const UNBONDED_LIFETIME_MS = 86_400_000

/** The solver after a read of its bond at `now`, Unix time in milliseconds; the same object when nothing changed. */
export function withBond(solver: Solver, isBonded: boolean, now: number): Solver {
  if (solver.isBonded === isBonded && (isBonded || solver.unbondedSince !== undefined)) return solver
  const { unbondedSince = now, ...rest } = solver
  return isBonded ? { ...rest, isBonded } : { ...rest, isBonded, unbondedSince }
}

/**
 * The solvers that a new one may replace. The solver that has lacked a sufficient bond for the longest time is first.
 * @param before Unix time in milliseconds: solvers with a sufficient bond at that time or later keep their places
 */
export function replaceableSolvers(solvers: readonly Solver[], before: number): Solver[] {
  const since = ({ unbondedSince = Number.POSITIVE_INFINITY }: Solver) => unbondedSince
  return solvers.filter((solver) => since(solver) < before).sort((one, other) => since(one) - since(other))
}

/** Whether a bond, less the part being unstaked, allows its solver to quote (docs/decisions.md, D5). */
export function isBondSufficient(bond: Bond, minimum: bigint): boolean {
  return bond.registered && bond.total - bond.unstaking >= minimum
}

/** The part of a bond for new orders, neither reserved nor being unstaked; at least 0 (docs/decisions.md, D13). */
export function freeBondOf({ total, reserved, unstaking }: Bond): bigint {
  const free = total - reserved - unstaking
  return free > 0n ? free : 0n
}

const BPS_OF_ALL = 10_000n

/** The bond that an order reserves, rounded down like the contract's `mulDiv`; in the bond token's smallest unit. */
export function bondFor(outputAmount: bigint, reservationBps: bigint): bigint {
  return (outputAmount * reservationBps) / BPS_OF_ALL
}

/** The part of an output that all known contracts reserve, in hundredths of a percent. */
export const USUAL_RESERVATION_BPS = 500n

/** The error for a timestamp that is not newer than the last accepted one. */
export function timestampReused(last: number): ServiceError {
  return new ServiceError(
    'TIMESTAMP_REUSED',
    `The timestamp must be newer than the last accepted one, ${last}.`,
  )
}

/** The error for a registration on a full chain. */
export function solverLimitReached(maxPerChain: number): ServiceError {
  return new ServiceError(
    'SOLVER_LIMIT_REACHED',
    `This chain has its ${maxPerChain} solvers already, and none can be replaced now.`,
  )
}

/** The error for an address that the operator has blocked. */
export function solverBlocked(): ServiceError {
  return new ServiceError('SOLVER_BLOCKED', 'The operator of this instance has blocked this address.')
}
