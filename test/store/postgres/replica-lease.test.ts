import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { DatabaseTransaction } from '../../../src/store/database.js'
import { createReplicaLease } from '../../../src/store/postgres/replica-lease.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import type { Topic } from '../../../src/store/topics.js'
import { inPostgres, postgresAt } from '../databases.js'
import { NO_LIMIT, NOTED_AT, sessionSolver, solver } from '../solvers/solver-samples.js'

const LEASE_MS = 10_000
const EXPIRED_KEPT_MS = 60_000
const ROUNDS = 12

const create = inPostgres()
let url: string
beforeEach(async () => {
  url = (await create()).url
})

/** A replica with its own connections, and the chains of its notifications. */
async function openReplica(replicaId: string) {
  const { database, coordination } = await postgresAt(url).open()
  const notified: string[] = []
  const noting = {
    ...coordination,
    async notify(transaction: DatabaseTransaction, topic: Topic, text: string) {
      notified.push(`${topic} ${text}`)
      await coordination.notify(transaction, topic, text)
    },
  }
  const lease = createReplicaLease(database, noting, { replicaId, leaseMs: LEASE_MS })
  const store = createSolverStore(database, coordination, { replicaId, assertHeld: lease.assertHeld })
  await lease.renew()
  return {
    ...store,
    ...lease,
    notified,
    /** Lets time pass for its lease only. */
    async age(ms: number) {
      const { rows } = await sql<{ expires_at_ms: number }>`update replicas
        set renewed_since_ms = renewed_since_ms - ${ms}, expires_at_ms = expires_at_ms - ${ms}
        where id = ${replicaId} returning expires_at_ms`.execute(database)
      return rows[0]?.expires_at_ms ?? 0
    },
    /** It has renewed its lease for a whole lease time. */
    async settle() {
      await sql`update replicas set renewed_since_ms = renewed_since_ms - ${LEASE_MS}
        where id = ${replicaId}`.execute(database)
    },
    rows: () =>
      database
        .selectFrom('solvers')
        .select(['chain_id', 'session_id', 'session_replica', 'session_ended_at_ms'])
        .orderBy('chain_id')
        .orderBy('address')
        .execute(),
    leases: async () =>
      (await database.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id),
  }
}

/** Two replicas. The second one may release the sessions of the first. */
async function openBoth() {
  const [a, b] = await Promise.all([openReplica('a'), openReplica('b')])
  await b.settle()
  return [a, b] as const
}

describe('the sessions of a replica', () => {
  test('are its own there, and remote at the others', async () => {
    const [a, b] = await openBoth()
    await a.saveSession(sessionSolver(1, 's'), NO_LIMIT)
    const [own] = await a.readAll()
    const [remote] = await b.readAll()
    expect([own?.session, own?.remoteSession]).toEqual([{ id: 's' }, undefined])
    expect([remote?.session, remote?.remoteSession]).toEqual([undefined, { id: 's', replicaId: 'a' }])
    await a.endSession(solver(1), 's', NOTED_AT)
    expect((await b.readAll())[0]).not.toHaveProperty('remoteSession')
  })

  test('end when its lease has expired, at that time, with a notification of each chain', async () => {
    const [a, b] = await openBoth()
    for (const [number, chainId] of [
      [1, 1],
      [2, 1],
      [1, 2],
    ] as const)
      await a.saveSession(sessionSolver(number, 's', { chainId }), NO_LIMIT)
    await b.saveSession(sessionSolver(3, 't', { chainId: 2 }), NO_LIMIT)
    expect(await b.releaseExpired()).toBe(0)
    const expiredAt = await a.age(LEASE_MS)
    expect(await b.releaseExpired()).toBe(3)
    expect((await b.rows()).map(({ session_ended_at_ms }) => session_ended_at_ms)).toEqual([
      expiredAt,
      expiredAt,
      expiredAt,
      null,
    ])
    expect(b.notified.sort()).toEqual(['solvers 1', 'solvers 2'])
    expect(await b.releaseExpired()).toBe(0)
    expect(b.notified).toHaveLength(2)
  })

  test('stay for a whole lease time after an outage, so that it can renew its lease', async () => {
    const [a, b] = await openBoth()
    await a.saveSession(sessionSolver(1, 's'), NO_LIMIT)
    await Promise.all([a.age(LEASE_MS), b.age(LEASE_MS)])
    expect(await b.releaseExpired()).toBe(0)
    await b.renew()
    expect(await b.releaseExpired()).toBe(0)
    await b.settle()
    await a.renew()
    expect(await b.releaseExpired()).toBe(0)
    expect((await a.readAll())[0]?.session).toEqual({ id: 's' })
  })

  test('stay after a gap in which the lease of the other replica nearly expired', async () => {
    const [a, b] = await openBoth()
    await a.saveSession(sessionSolver(1, 's'), NO_LIMIT)
    await a.age(LEASE_MS)
    await b.age(LEASE_MS / 2)
    await b.renew()
    expect(await b.releaseExpired()).toBe(0)
    await b.settle()
    await b.renew()
    expect(await b.releaseExpired()).toBe(1)
  })

  test('end when it gives up its lease, and those of others stay', async () => {
    const [a, b] = await openBoth()
    await a.saveSession(sessionSolver(1, 's'), NO_LIMIT)
    await b.saveSession(sessionSolver(2, 't'), NO_LIMIT)
    await a.giveUp()
    expect((await b.readAll()).map(({ session, remoteSession }) => session ?? remoteSession)).toEqual([
      undefined,
      { id: 't' },
    ])
    expect(a.notified).toEqual(['solvers 1'])
    expect(await b.leases()).toEqual(['b'])
  })
})

describe('a replica whose lease has expired', () => {
  test('can save no session until it has renewed it', async () => {
    const [a, b] = await openBoth()
    await a.age(LEASE_MS)
    await expect(a.saveSession(sessionSolver(1, 's'), NO_LIMIT)).rejects.toMatchObject({
      reason: 'DATABASE_UNAVAILABLE',
    })
    expect(await b.readAll()).toEqual([])
    await a.renew()
    await a.saveSession(sessionSolver(1, 's'), NO_LIMIT)
    expect(await b.releaseExpired()).toBe(0)
  })

  test('cannot change the end of its sessions, nor end the next session of their solvers', async () => {
    const [a, b] = await openBoth()
    for (const number of [1, 2]) await a.saveSession(sessionSolver(number, 's'), NO_LIMIT)
    const expiredAt = await a.age(LEASE_MS)
    await b.releaseExpired()
    await b.saveSession(sessionSolver(2, 't'), NO_LIMIT)
    for (const number of [1, 2]) await a.endSession(solver(number), 's', NOTED_AT)
    await a.renew()
    await a.giveUp()
    expect(await b.rows()).toEqual([
      { chain_id: 1, session_id: 's', session_replica: 'a', session_ended_at_ms: expiredAt },
      { chain_id: 1, session_id: 't', session_replica: 'b', session_ended_at_ms: null },
    ])
  })

  test('leaves no lease after a minute, but keeps it while its sessions are not released', async () => {
    const [a, b] = await openBoth()
    const c = await openReplica('c')
    await a.saveSession(sessionSolver(1, 's'), NO_LIMIT)
    await a.age(LEASE_MS + EXPIRED_KEPT_MS + 1)
    expect(await c.releaseExpired()).toBe(0)
    expect(await c.leases()).toEqual(['a', 'b', 'c'])
    expect(await b.releaseExpired()).toBe(1)
    expect(await c.leases()).toEqual(['b', 'c'])
  })
})

describe('at the same moment,', () => {
  test('two replicas that release the same sessions end each once', async () => {
    const [a, b] = await openBoth()
    const c = await openReplica('c')
    await c.settle()
    for (let round = 0; round < ROUNDS; round++) {
      await a.renew()
      for (const number of [1, 2, 3]) await a.saveSession(sessionSolver(number, `s${round}`), NO_LIMIT)
      const expiredAt = await a.age(LEASE_MS)
      const counts = await Promise.all([b.releaseExpired(), c.releaseExpired()])
      expect(counts.sort()).toEqual([0, 3])
      for (const { session_ended_at_ms } of await b.rows()) expect(session_ended_at_ms).toBe(expiredAt)
    }
  })

  test('a renewal and a release keep all sessions or end all', async () => {
    const [a, b] = await openBoth()
    for (let round = 0; round < ROUNDS; round++) {
      await a.renew()
      for (const number of [1, 2, 3]) await a.saveSession(sessionSolver(number, `s${round}`), NO_LIMIT)
      await a.age(LEASE_MS)
      const [, released] = await Promise.all([a.renew(), b.releaseExpired()])
      const open = (await a.readAll()).filter(({ session }) => session !== undefined)
      expect([released, open.length]).toEqual(released === 0 ? [0, 3] : [3, 0])
      expect(await b.releaseExpired()).toBe(0)
    }
  })

  test('a new session and the release of its replica leave no session that nobody releases', async () => {
    const [a, b] = await openBoth()
    for (let round = 0; round < ROUNDS; round++) {
      await a.renew()
      await Promise.allSettled([
        a.saveSession(sessionSolver(1, `s${round}`), NO_LIMIT),
        a.age(LEASE_MS).then(() => b.releaseExpired()),
      ])
      await b.releaseExpired()
      expect((await b.readAll()).filter(({ remoteSession }) => remoteSession !== undefined)).toEqual([])
    }
  })
})
