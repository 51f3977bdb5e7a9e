import { type Selectable, sql } from 'kysely'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { Solver, SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { type Coordination, type Database, NO_COORDINATION } from '../database.js'
import { assertNotBlocked, isBlocked, readBlocked } from '../operator/blocked-solvers.js'
import { ONLY_REPLICA, type SessionHolder } from '../postgres/replica-lease.js'
import type { Schema } from '../schema.js'
import { createSolverSessionStore } from './solver-session-store.js'
import {
  acceptTimestamp,
  deleteUnbonded,
  makeRoom,
  NONE_REPLACEABLE,
  type Replaceable,
  readTimestamp,
  upsertSolver,
} from './solver-statements.js'

/** Stores registrations. It keeps the last accepted timestamp of each solver after they end. */
export type SolverStore = ReturnType<typeof createSolverStore>

/**
 * Builds the store of registrations over an open database. It notifies replicas of each change, by the chain's id.
 * @param allowedOnly only addresses on the operator's list of allowed ones may register
 */
export function createSolverStore(
  database: Database,
  coordination: Coordination = NO_COORDINATION,
  holder: SessionHolder = ONLY_REPLICA,
  allowedOnly = false,
) {
  const { serialize, notify } = coordination
  return {
    ...createSolverSessionStore(database, coordination, holder, allowedOnly),

    /** All registered solvers, or those of one chain; the longest registered first. */
    async readAll(chainId?: number): Promise<Solver[]> {
      const rows = await database
        .selectFrom('solvers')
        .leftJoin('replicas', 'replicas.id', 'session_replica')
        .selectAll('solvers')
        .select('replicas.url as replica_url')
        .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
        .orderBy('registered_at_ms')
        .orderBy('address')
        .execute()
      return rows.map((row) => toSolver(row, holder.replicaId))
    },

    /** The last accepted timestamp, Unix time in milliseconds; undefined when none was accepted. */
    lastTimestamp: (key: SolverKey): Promise<number | undefined> => readTimestamp(database, key),

    /** Whether the operator has blocked the address on the chain, or allows only others. */
    isBlocked: (key: SolverKey): Promise<boolean> => isBlocked(database, key, allowedOnly),

    /**
     * Adds or updates a solver with an endpoint and stores its timestamp, in one transaction. A registered one keeps its
     * `registeredAt` and its session. On a full chain, a new solver replaces a replaceable one that still has no sufficient bond. The timestamp of the
     * replaced one stays.
     * @returns the replaced solver; undefined when a place was free
     * @throws ServiceError TIMESTAMP_REUSED, SOLVER_BLOCKED, or SOLVER_LIMIT_REACHED when no place is free
     */
    save: (
      solver: Solver,
      timestamp: number,
      maxPerChain: number,
      replaceable: Replaceable = NONE_REPLACEABLE,
    ): Promise<Address | undefined> =>
      database.transaction().execute(async (transaction) => {
        await serialize(transaction, `solvers ${solver.chainId}`)
        await acceptTimestamp(transaction, solver, timestamp)
        await assertNotBlocked(transaction, solver, { serialize, allowedOnly })
        const replaced = await makeRoom(transaction, solver, maxPerChain, replaceable)
        await upsertSolver(transaction, solver, { endpoint_url: solver.endpointUrl })
        await notify(transaction, 'solvers', String(solver.chainId))
        return replaced
      }),

    /**
     * Removes a solver with its session and stores its timestamp, in one transaction.
     * @throws ServiceError TIMESTAMP_REUSED, or SOLVER_NOT_FOUND
     */
    remove: (key: SolverKey, timestamp: number): Promise<void> =>
      database.transaction().execute(async (transaction) => {
        await acceptTimestamp(transaction, key, timestamp)
        const { numDeletedRows } = await transaction
          .deleteFrom('solvers')
          .where('chain_id', '=', key.chainId)
          .where('address', '=', key.address)
          .executeTakeFirst()
        if (numDeletedRows === 0n)
          throw new ServiceError('SOLVER_NOT_FOUND', 'This solver is not registered here.')
        await notify(transaction, 'solvers', String(key.chainId))
      }),

    /**
     * Stores whether a solver's bond suffices. Does nothing when the solver is not registered.
     * @param now start of an insufficient bond, unless one is stored already; Unix time in milliseconds
     */
    setBonded: (key: SolverKey, isBonded: boolean, now: number): Promise<void> =>
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

    /**
     * Removes a solver that has lacked a sufficient bond since before a time in Unix milliseconds. Its last accepted
     * timestamp stays.
     * @returns whether it was removed
     */
    removeUnbonded: (key: SolverKey, unbondedBefore: number): Promise<boolean> =>
      database.transaction().execute(async (transaction) => {
        const isRemoved = await deleteUnbonded(transaction, key, unbondedBefore)
        if (isRemoved) await notify(transaction, 'solvers', String(key.chainId))
        return isRemoved
      }),

    /**
     * Removes a chain's blocked solvers. One may have been registered while it was being blocked. Their last
     * accepted timestamps stay.
     * @returns the removed solvers
     */
    async removeBlocked(chainId: number): Promise<Address[]> {
      const blocked = await readBlocked(database, chainId, allowedOnly)
      // A transaction would wait for other writers, so it begins only when there is something to remove.
      if (blocked.length === 0) return []
      return database.transaction().execute(async (transaction) => {
        const still = await readBlocked(transaction, chainId, allowedOnly)
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

/** A row of a solver, with the URL of the replica that holds its session. */
type SolverRow = Selectable<Schema['solvers']> & { readonly replica_url: string | null }

function toSolver(row: SolverRow, replicaId: string): Solver {
  const { is_bonded, unbonded_since_ms } = row
  return {
    chainId: row.chain_id,
    address: row.address as Address,
    endpointUrl: row.endpoint_url,
    ...sessionOf(row, replicaId),
    name: row.name,
    registeredAt: row.registered_at_ms,
    isBonded: is_bonded === 1,
    ...(is_bonded === 0 && unbonded_since_ms !== null && { unbondedSince: unbonded_since_ms }),
  }
}

function sessionOf(row: SolverRow, replicaId: string): Pick<Solver, 'session' | 'remoteSession'> {
  const { session_id: id, session_replica: holder, session_ended_at_ms: endedAt, replica_url: url } = row
  if (id === null || holder === null || endedAt !== null) return {}
  if (holder === replicaId) return { session: { id } }
  return { remoteSession: { id, replicaId: holder, ...(url !== null && { replicaUrl: url }) } }
}
