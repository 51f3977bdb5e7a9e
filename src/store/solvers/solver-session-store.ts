import {
  NO_ENDPOINT,
  type Solver,
  type SolverKey,
  type SolverSession,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Coordination, Database } from '../database.js'
import { assertNotBlocked } from '../operator/blocked-solvers.js'
import type { SessionHolder } from '../postgres/replica-lease.js'
import { makeRoom, NONE_REPLACEABLE, type Replaceable, upsertSolver } from './solver-statements.js'

/** A solver that registers by a session. */
export type SessionSolver = Omit<Solver, 'endpointUrl' | 'remoteSession'> & {
  readonly session: SolverSession
}

/**
 * Builds the store of solvers' sessions over an open database (docs/decisions.md, D18). A solver has at most one on each chain. It notifies
 * replicas of each change, by the chain's id.
 */
export function createSolverSessionStore(
  database: Database,
  { serialize, notify }: Coordination,
  { replicaId, assertHeld }: SessionHolder,
  allowedOnly: boolean,
) {
  return {
    /**
     * Adds a solver without an endpoint, or updates a registered one, in one transaction. This replica holds the session. A
     * registered solver keeps its endpoint and its `registeredAt`, and an earlier session is replaced. Places are taken as for
     * a registration.
     * @returns the replaced solver; undefined when a place was free
     * @throws ServiceError SOLVER_BLOCKED, SOLVER_LIMIT_REACHED when no place is free, or DATABASE_UNAVAILABLE when this
     *   replica has lost its lease
     */
    saveSession: (
      solver: SessionSolver,
      maxPerChain: number,
      replaceable: Replaceable = NONE_REPLACEABLE,
    ): Promise<Address | undefined> =>
      database.transaction().execute(async (transaction) => {
        await serialize(transaction, `solvers ${solver.chainId}`)
        await assertHeld(transaction)
        await assertNotBlocked(transaction, solver, { serialize, allowedOnly })
        const replaced = await makeRoom(transaction, solver, maxPerChain, replaceable)
        const session = {
          session_id: solver.session.id,
          session_replica: replicaId,
          session_ended_at_ms: null,
        }
        await upsertSolver(transaction, solver, session)
        await notify(transaction, 'solvers', String(solver.chainId))
        return replaced
      }),

    /**
     * Stores the end of a session, Unix time in milliseconds. Does nothing when another session has replaced it, or when its
     * end is stored already. It waits for writes of the chain's solvers that have begun before.
     */
    endSession: ({ chainId, address }: SolverKey, sessionId: string, endedAt: number): Promise<void> =>
      database.transaction().execute(async (transaction) => {
        // A write of the session whose answer was lost may still be committed.
        await serialize(transaction, `solvers ${chainId}`)
        const { numUpdatedRows } = await transaction
          .updateTable('solvers')
          .set({ session_ended_at_ms: endedAt })
          .where('chain_id', '=', chainId)
          .where('address', '=', address)
          .where('session_id', '=', sessionId)
          .where('session_ended_at_ms', 'is', null)
          .executeTakeFirstOrThrow()
        if (numUpdatedRows > 0n) await notify(transaction, 'solvers', String(chainId))
      }),

    /** Stores the end of all sessions, Unix time in milliseconds. Only for a database without other replicas. */
    async endAllSessions(endedAt: number): Promise<void> {
      await database
        .updateTable('solvers')
        .set({ session_ended_at_ms: endedAt })
        .where('session_id', 'is not', null)
        .where('session_ended_at_ms', 'is', null)
        .execute()
    },

    /**
     * Removes the solvers of a chain without an endpoint whose session ended before a time in Unix milliseconds.
     * @returns the removed solvers
     */
    removeEnded: (chainId: number, endedBefore: number): Promise<Address[]> =>
      database.transaction().execute(async (transaction) => {
        const removed = await transaction
          .deleteFrom('solvers')
          .where('chain_id', '=', chainId)
          .where('endpoint_url', '=', NO_ENDPOINT)
          .where('session_ended_at_ms', '<', endedBefore)
          .returning('address')
          .execute()
        if (removed.length > 0) await notify(transaction, 'solvers', String(chainId))
        return removed.map((row) => row.address as Address)
      }),
  }
}
