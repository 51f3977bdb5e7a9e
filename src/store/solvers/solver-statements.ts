import type { Updateable } from 'kysely'
import {
  NO_ENDPOINT,
  type Solver,
  type SolverKey,
  solverLimitReached,
  timestampReused,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Database, DatabaseTransaction } from '../database.js'
import type { Schema } from '../schema.js'

/** The solvers that a new solver may replace when the chain has no free place. */
export interface Replaceable {
  /** The solvers without a sufficient bond at the last read. The first is replaced first. */
  readonly addresses: readonly Address[]
  /** Unix time in milliseconds: a solver that had a sufficient bond at that time or later is not replaced. */
  readonly unbondedBefore: number
}

/** For a chain on which a new solver needs a free place. */
export const NONE_REPLACEABLE: Replaceable = { addresses: [], unbondedBefore: 0 }

/** Reads the last accepted timestamp of a solver, Unix time in milliseconds; undefined when none was accepted. */
export async function readTimestamp(
  database: Database,
  { chainId, address }: SolverKey,
): Promise<number | undefined> {
  const row = await database
    .selectFrom('solver_timestamps')
    .select('last_timestamp_ms')
    .where('chain_id', '=', chainId)
    .where('address', '=', address)
    .executeTakeFirst()
  return row?.last_timestamp_ms
}

/**
 * Accepts a timestamp that is newer than the last one. One statement compares and stores it, because another replica may
 * accept the same message at the same moment.
 * @throws ServiceError TIMESTAMP_REUSED
 */
export async function acceptTimestamp(
  transaction: DatabaseTransaction,
  key: SolverKey,
  timestamp: number,
): Promise<void> {
  const accepted = await transaction
    .insertInto('solver_timestamps')
    .values({ chain_id: key.chainId, address: key.address, last_timestamp_ms: timestamp })
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'address'])
        .doUpdateSet({ last_timestamp_ms: timestamp })
        .where('solver_timestamps.last_timestamp_ms', '<', timestamp),
    )
    .returning('last_timestamp_ms')
    .executeTakeFirst()
  if (accepted === undefined) throw timestampReused((await readTimestamp(transaction, key)) ?? timestamp)
}

/**
 * Finds a place for a solver. On a full chain, a new solver takes the place of a replaceable one, which is deleted.
 * @returns the replaced solver; undefined when a place was free
 * @throws ServiceError SOLVER_LIMIT_REACHED
 */
export async function makeRoom(
  transaction: DatabaseTransaction,
  key: SolverKey,
  maxPerChain: number,
  replaceable: Replaceable,
): Promise<Address | undefined> {
  if (await isRegistered(transaction, key)) return undefined
  if (!(await hasSolvers(transaction, key.chainId, maxPerChain))) return undefined
  const replaced = await deleteReplaceable(transaction, key.chainId, replaceable)
  if (replaced === undefined) throw solverLimitReached(maxPerChain)
  return replaced
}

async function isRegistered(database: Database, { chainId, address }: SolverKey): Promise<boolean> {
  const row = await database
    .selectFrom('solvers')
    .select('address')
    .where('chain_id', '=', chainId)
    .where('address', '=', address)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Adds a solver, or updates name, bond and `columns` of the registered one. So a session keeps the endpoint, an endpoint
 * keeps the session, and both keep `registeredAt`.
 */
export async function upsertSolver(
  transaction: DatabaseTransaction,
  solver: Omit<Solver, 'endpointUrl' | 'session' | 'remoteSession'>,
  columns: Updateable<Schema['solvers']>,
): Promise<void> {
  const changes = {
    name: solver.name,
    is_bonded: Number(solver.isBonded),
    unbonded_since_ms: solver.unbondedSince ?? null,
    ...columns,
  }
  await transaction
    .insertInto('solvers')
    .values({
      chain_id: solver.chainId,
      address: solver.address,
      endpoint_url: NO_ENDPOINT,
      registered_at_ms: solver.registeredAt,
      ...changes,
    })
    .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(changes))
    .execute()
}

/** Whether a chain has a number of solvers, or more. */
async function hasSolvers(database: Database, chainId: number, limit: number): Promise<boolean> {
  const { count } = await database
    .selectFrom('solvers')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('chain_id', '=', chainId)
    .executeTakeFirstOrThrow()
  return count >= limit
}

/**
 * Deletes the first replaceable solver.
 * @returns its address; undefined when each of them has a sufficient bond again or no longer exists
 */
async function deleteReplaceable(
  transaction: DatabaseTransaction,
  chainId: number,
  { addresses, unbondedBefore }: Replaceable,
): Promise<Address | undefined> {
  for (const address of addresses) {
    if (await deleteUnbonded(transaction, { chainId, address }, unbondedBefore)) return address
  }
  return undefined
}

/**
 * Deletes a solver that has lacked a sufficient bond since before a time in Unix milliseconds. One statement checks and
 * deletes it, because another replica may store a sufficient bond at the same moment.
 * @returns whether it was deleted
 */
export async function deleteUnbonded(
  transaction: DatabaseTransaction,
  { chainId, address }: SolverKey,
  unbondedBefore: number,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('solvers')
    .where('chain_id', '=', chainId)
    .where('address', '=', address)
    .where('is_bonded', '=', 0)
    .where('unbonded_since_ms', '<', unbondedBefore)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
