import { sql } from 'kysely'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { Coordination, Database, DatabaseTransaction } from '../database.js'

/** The replica whose solver sessions a store writes. */
export interface SessionHolder {
  /** A UUID. */
  readonly replicaId: string
  /**
   * Checks in the transaction of a new session that others can end it when this replica is gone.
   * @throws ServiceError DATABASE_UNAVAILABLE
   */
  assertHeld(transaction: DatabaseTransaction): Promise<void>
}

/** For a database of one process. Its sessions end when it is opened, so it needs no lease. */
export const ONLY_REPLICA: SessionHolder = {
  replicaId: '00000000-0000-0000-0000-000000000000',
  async assertHeld() {},
}

/** The lease of a replica: while it lasts, the replica holds its solver sessions (docs/decisions.md, D18). */
export type ReplicaLease = ReturnType<typeof createReplicaLease>
/** Time for which an expired lease stays: a session that was being written when it expired is stored by then. */
const EXPIRED_KEPT_MS = 60_000
/** The clock of the database, which all replicas share: Unix time in milliseconds. */
const NOW = sql<number>`(extract(epoch from pg_catalog.clock_timestamp()) * 1000::numeric)::bigint`

/** Builds the lease of one replica in PostgreSQL. It is not taken yet. */
export function createReplicaLease(
  database: Database,
  { notify }: Coordination,
  { replicaId, leaseMs }: { readonly replicaId: string; readonly leaseMs: number },
) {
  /** Kept here too, for a row that another replica has deleted during an outage. */
  let url: string | null = null

  async function renew(): Promise<void> {
    const expires_at_ms = sql<number>`${NOW} + ${leaseMs}`
    await database
      .insertInto('replicas')
      .values({ id: replicaId, renewed_since_ms: NOW, expires_at_ms, url })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({
          // Half of the lease left is no gap: then the others had time to renew theirs too.
          renewed_since_ms: sql<number>`case when replicas.expires_at_ms - ${NOW} > ${leaseMs / 2}
            then replicas.renewed_since_ms else ${NOW} end`,
          expires_at_ms,
          url,
        }),
      )
      .execute()
  }

  async function notifyChains(
    transaction: DatabaseTransaction,
    ended: readonly { readonly chain_id: number }[],
  ): Promise<void> {
    for (const chainId of new Set(ended.map(({ chain_id }) => chain_id)))
      await notify(transaction, 'solvers', String(chainId))
  }

  return {
    async assertHeld(transaction: DatabaseTransaction): Promise<void> {
      const held = await transaction
        .selectFrom('replicas')
        .select('id')
        .where('id', '=', replicaId)
        .where('expires_at_ms', '>', NOW)
        .executeTakeFirst()
      if (held === undefined)
        throw new ServiceError('DATABASE_UNAVAILABLE', 'This replica has lost its lease: connect again.')
    },

    /** Takes the lease, or renews it. It then lasts for a whole lease time. */
    renew,
    /** Renews the lease, and stores the origin at which the other replicas ask this one (docs/decisions.md, D18). */
    async publishUrl(published: string): Promise<void> {
      url = published
      await renew()
    },

    /**
     * Ends the sessions of replicas whose lease has expired, at the time when it expired. Does nothing unless this replica
     * has renewed its own for a whole lease time without a gap: after an outage, the others need that time to renew theirs.
     * @returns the number of ended sessions; one for each of their chains
     */
    releaseExpired: (): Promise<number> =>
      database.transaction().execute(async (transaction) => {
        // A lease that is renewed at this moment is locked, and stays.
        const { rows: ended } = await sql<{ chain_id: number }>`
          with expired as (
            select id, expires_at_ms from replicas where expires_at_ms <= ${NOW} and exists (
              select from replicas own where own.id = ${replicaId}
                and own.expires_at_ms > ${NOW} and own.renewed_since_ms <= ${NOW} - ${leaseMs}
            ) for update skip locked
          )
          update solvers set session_ended_at_ms = expired.expires_at_ms from expired
          where session_replica = expired.id and session_ended_at_ms is null
          returning chain_id`.execute(transaction)
        await notifyChains(transaction, ended)
        await sql`delete from replicas where expires_at_ms < ${NOW} - ${EXPIRED_KEPT_MS} and not exists (
          select from solvers where session_replica = replicas.id and session_ended_at_ms is null
        )`.execute(transaction)
        return ended.length
      }),

    /** Ends the lease of this replica, and the sessions that it still holds. */
    giveUp: (): Promise<void> =>
      database.transaction().execute(async (transaction) => {
        const ended = await transaction
          .updateTable('solvers')
          .set({ session_ended_at_ms: NOW })
          .where('session_replica', '=', replicaId)
          .where('session_ended_at_ms', 'is', null)
          .returning('chain_id')
          .execute()
        await transaction.deleteFrom('replicas').where('id', '=', replicaId).execute()
        await notifyChains(transaction, ended)
      }),
  }
}
