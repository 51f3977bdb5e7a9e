import type { Address } from '../domain/hex.js'
import { type SolverKey, timestampReused } from '../domain/solver.js'
import type { Database, DatabaseTransaction } from './database.js'

/** The solvers that a new solver may replace when the chain has no free place. */
export interface Replaceable {
  /** The solvers without a sufficient bond at the last read. The first is replaced first. */
  readonly addresses: readonly Address[]
  /** Unix time in milliseconds: a solver that had a sufficient bond at that time or later is not replaced. */
  readonly unbondedBefore: number
}

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

/** Whether a chain has a number of solvers, or more. */
export async function hasSolvers(database: Database, chainId: number, limit: number): Promise<boolean> {
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
export async function deleteReplaceable(
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
