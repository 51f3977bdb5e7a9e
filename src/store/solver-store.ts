import { type Selectable, sql } from 'kysely'
import { toDisplayName } from '../domain/display-name.js'
import { ServiceError } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import { type Solver, type SolverKey, solverLimitReached, timestampReused } from '../domain/solver.js'
import { assertNotBlocked, isBlocked, readBlocked } from './blocked-solvers.js'
import { ALONE, type Coordination, type Database, type DatabaseTransaction } from './database.js'
import type { Schema } from './schema.js'

/** The solvers that a new solver may replace when the chain has no free place. */
export interface Replaceable {
  /** The solvers without a sufficient bond at the last read. The first is replaced first. */
  readonly addresses: readonly Address[]
  /** Unix time in milliseconds: a solver that had a sufficient bond at that time or later is not replaced. */
  readonly unbondedBefore: number
}

/** A stored registration. */
export interface SavedSolver {
  readonly solver: Solver
  /** The solver that it replaced; undefined when a place was free. */
  readonly replaced: Address | undefined
}

/** Stores registrations. It keeps the last accepted timestamp of each solver after they end. */
export interface SolverStore {
  /** All registered solvers, or those of one chain; the longest registered first. */
  readAll(chainId?: number): Promise<Solver[]>
  /** The last accepted timestamp, Unix time in milliseconds; undefined when none was accepted. */
  lastTimestamp(key: SolverKey): Promise<number | undefined>
  /** Whether the operator has blocked the address on the chain. */
  isBlocked(key: SolverKey): Promise<boolean>
  /**
   * Adds or updates a solver and stores its timestamp, in one transaction. On a full chain, a new solver replaces a
   * replaceable one that still has no sufficient bond. The timestamp of the replaced one stays.
   * @returns the stored solver; a registered one keeps its `registeredAt`
   * @throws ServiceError TIMESTAMP_REUSED, SOLVER_BLOCKED, or SOLVER_LIMIT_REACHED when no place is free
   */
  save(
    solver: Solver,
    timestamp: number,
    maxPerChain: number,
    replaceable?: Replaceable,
  ): Promise<SavedSolver>
  /**
   * Removes a solver and stores its timestamp, in one transaction.
   * @throws ServiceError TIMESTAMP_REUSED, or SOLVER_NOT_FOUND
   */
  remove(key: SolverKey, timestamp: number): Promise<void>
  /**
   * Stores whether a solver's bond suffices. Does nothing when the solver is not registered.
   * @param now start of an insufficient bond, unless one is stored already; Unix time in milliseconds
   */
  setBonded(key: SolverKey, isBonded: boolean, now: number): Promise<void>
  /**
   * Removes a solver that has lacked a sufficient bond since before a time in Unix milliseconds. Its last accepted
   * timestamp stays.
   * @returns whether it was removed
   */
  removeUnbonded(key: SolverKey, unbondedBefore: number): Promise<boolean>
  /**
   * Removes a chain's blocked solvers. A version that does not know blocked solvers can have registered them. Their last
   * accepted timestamps stay.
   * @returns the removed solvers
   */
  removeBlocked(chainId: number): Promise<Address[]>
}

const NONE: Replaceable = { addresses: [], unbondedBefore: 0 }

/** Builds the store of registrations over an open database. It notifies replicas of each change, by the chain's id. */
export function createSolverStore(
  database: Database,
  { serialize, notify }: Coordination = ALONE,
): SolverStore {
  return {
    async readAll(chainId) {
      const rows = await database
        .selectFrom('solvers')
        .selectAll()
        .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
        .orderBy('registered_at_ms')
        .orderBy('address')
        .execute()
      return rows.map(toSolver)
    },

    lastTimestamp: (key) => readTimestamp(database, key),

    isBlocked: (key) => isBlocked(database, key),

    save: (solver, timestamp, maxPerChain, replaceable = NONE) =>
      database.transaction().execute(async (transaction) => {
        await serialize(transaction, `solvers ${solver.chainId}`)
        await moveTimestamp(transaction, solver, timestamp)
        await assertNotBlocked(transaction, solver, serialize)
        const before = await transaction
          .selectFrom('solvers')
          .select('registered_at_ms')
          .where('chain_id', '=', solver.chainId)
          .where('address', '=', solver.address)
          .executeTakeFirst()
        const isFull = before === undefined && (await hasNoPlace(transaction, solver.chainId, maxPerChain))
        const replaced = isFull ? await replaceOne(transaction, solver.chainId, replaceable) : undefined
        if (isFull && replaced === undefined) throw solverLimitReached(maxPerChain)

        const registeredAt = before?.registered_at_ms ?? solver.registeredAt
        const changes = {
          endpoint_url: solver.endpointUrl,
          name: solver.name,
          is_bonded: Number(solver.isBonded),
          unbonded_since_ms: solver.unbondedSince ?? null,
        }
        await transaction
          .insertInto('solvers')
          .values({
            chain_id: solver.chainId,
            address: solver.address,
            registered_at_ms: registeredAt,
            ...changes,
          })
          .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(changes))
          .execute()
        await notify(transaction, 'solvers', String(solver.chainId))
        return { solver: { ...solver, registeredAt }, replaced }
      }),

    remove: (key, timestamp) =>
      database.transaction().execute(async (transaction) => {
        await moveTimestamp(transaction, key, timestamp)
        const { numDeletedRows } = await transaction
          .deleteFrom('solvers')
          .where('chain_id', '=', key.chainId)
          .where('address', '=', key.address)
          .executeTakeFirst()
        if (numDeletedRows === 0n)
          throw new ServiceError('SOLVER_NOT_FOUND', 'This solver is not registered here.')
        await notify(transaction, 'solvers', String(key.chainId))
      }),

    setBonded: (key, isBonded, now) =>
      database.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('solvers')
          .set({
            is_bonded: Number(isBonded),
            unbonded_since_ms: isBonded ? null : sql<number>`coalesce(unbonded_since_ms, ${now})`,
          })
          .where('chain_id', '=', key.chainId)
          .where('address', '=', key.address)
          .execute()
        await notify(transaction, 'solvers', String(key.chainId))
      }),

    removeUnbonded: (key, unbondedBefore) =>
      database.transaction().execute(async (transaction) => {
        const isRemoved = await deleteUnbonded(transaction, key, unbondedBefore)
        if (isRemoved) await notify(transaction, 'solvers', String(key.chainId))
        return isRemoved
      }),

    async removeBlocked(chainId) {
      const blocked = await readBlocked(database, chainId)
      // A transaction would wait for other writers, so it begins only when there is something to remove.
      if (blocked.length === 0) return []
      return database.transaction().execute(async (transaction) => {
        const still = await readBlocked(transaction, chainId)
        if (still.length === 0) return []
        const removed = await transaction
          .deleteFrom('solvers')
          .where('chain_id', '=', chainId)
          .where('address', 'in', still)
          .returning('address')
          .execute()
        await notify(transaction, 'solvers', String(chainId))
        return removed.map((row) => row.address as Address)
      })
    },
  }
}

/** Converts a name that only an older version accepted, so that other code need not handle it. */
function toSolver(row: Selectable<Schema['solvers']>): Solver {
  const { is_bonded, unbonded_since_ms } = row
  return {
    chainId: row.chain_id,
    address: row.address as Address,
    endpointUrl: row.endpoint_url,
    name: toDisplayName(row.name),
    registeredAt: row.registered_at_ms,
    isBonded: is_bonded === 1,
    ...(is_bonded === 0 && unbonded_since_ms !== null && { unbondedSince: unbonded_since_ms }),
  }
}

async function readTimestamp(
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

/** In one statement, because another replica may accept the same message at the same moment. */
async function moveTimestamp(
  transaction: DatabaseTransaction,
  key: SolverKey,
  timestamp: number,
): Promise<void> {
  const moved = await transaction
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
  if (moved === undefined) throw timestampReused((await readTimestamp(transaction, key)) ?? timestamp)
}

async function hasNoPlace(database: Database, chainId: number, maxPerChain: number): Promise<boolean> {
  const { count } = await database
    .selectFrom('solvers')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('chain_id', '=', chainId)
    .executeTakeFirstOrThrow()
  return count >= maxPerChain
}

/** @returns the removed solver; undefined when each of them has a sufficient bond again or no longer exists */
async function replaceOne(
  transaction: DatabaseTransaction,
  chainId: number,
  { addresses, unbondedBefore }: Replaceable,
): Promise<Address | undefined> {
  for (const address of addresses) {
    if (await deleteUnbonded(transaction, { chainId, address }, unbondedBefore)) return address
  }
  return undefined
}

/** In one statement, because another replica may store a sufficient bond at the same moment. */
async function deleteUnbonded(
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
