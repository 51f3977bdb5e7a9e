import { onTestFinished } from 'vitest'
import { systemClock } from '../../packages/protocol/src/clock.js'
import { connectCluster } from '../../src/cluster/open-replica.js'
import { openTables } from '../../src/store/database.js'
import { createConnectionPool } from '../../src/store/postgres/postgres.js'
import { POSTGRES_TABLES } from '../../src/store/postgres/postgres-stores.js'
import { TOPICS, type Topic } from '../../src/store/topics.js'
import { createLog } from '../../src/telemetry/log.js'
import { eventually } from '../support/eventually.js'

/** The notes of a replica after a reconnection. */
export const MISSED = TOPICS.map((topic) => `missed ${topic}`)

/**
 * A replica that notes its events. It closes with the test, if it is still open.
 * @param whenFinished the test's own hook, for concurrent tests
 * @param tablesUrl where the tables are made, if they are missing
 */
export async function join(databaseUrl: string, whenFinished = onTestFinished, tablesUrl = databaseUrl) {
  const notes: string[] = []
  const received: Record<Topic, string[]> = {
    events: [],
    solvers: [],
    bonds: [],
    nonces: [],
    chains: [],
  }
  const pool = createConnectionPool(tablesUrl)
  await openTables(pool.dialect(), POSTGRES_TABLES.main)
  await pool.close()
  const cluster = await connectCluster(databaseUrl, {
    onLost: () => notes.push('lost'),
    onDropped: (topic) => notes.push(`dropped ${topic}`),
    clock: systemClock,
    log: createLog('silent'),
  })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= cluster.close()
    return closed
  }
  whenFinished(close)

  for (const topic of TOPICS) {
    const onMissed = () => notes.push(`missed ${topic}`)
    cluster.listen(topic, { onMessage: (text) => received[topic].push(text), onMissed })
  }
  const leaderOf = new Set<string>()
  return {
    ...cluster,
    close,
    /** All changes, in order. */
    notes: notes as readonly string[],
    received: received as Readonly<Record<Topic, readonly string[]>>,
    /** The leaderships that it has, as far as it knows. */
    leaderOf: leaderOf as ReadonlySet<string>,
    /** Tries to acquire a leadership, and notes each change. */
    lead: (leadership: string) =>
      cluster.acquire(leadership, {
        onAcquired() {
          leaderOf.add(leadership)
          notes.push(`acquired ${leadership}`)
        },
        onLost() {
          leaderOf.delete(leadership)
          notes.push(`lost leadership of ${leadership}`)
        },
      }),
  }
}

export type TestReplica = Awaited<ReturnType<typeof join>>

/** Waits for a condition. @returns the time that it took, in milliseconds */
export async function until(isSo: () => boolean): Promise<number> {
  const start = performance.now()
  await eventually(async () => isSo(), Boolean)
  return performance.now() - start
}
