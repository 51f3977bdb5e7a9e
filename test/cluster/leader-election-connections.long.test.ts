import { isDeepStrictEqual } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openTables } from '../../src/store/database.js'
import { createConnectionPool, POSTGRES_COORDINATION } from '../../src/store/postgres/postgres.js'
import { POSTGRES_TABLES } from '../../src/store/postgres/postgres-stores.js'
import type { Schema } from '../../src/store/schema.js'
import { createSolverStore } from '../../src/store/solvers/solver-store.js'
import { CONNECTIONS, connect } from '../store/postgres/postgres-stores-samples.js'
import { solver } from '../store/solvers/solver-samples.js'
import { startPostgres } from '../support/databases/postgres.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { eventually } from '../support/eventually.js'
import { describeSlow, itSlow } from '../support/rounds.js'
import { join, MISSED, type TestReplica, until } from './replica-samples.js'

/** Longest time without a leader. */
const NO_LEADER_MS = 2000

async function joinThree() {
  const url = await createPostgresDatabase()
  const three = await Promise.all([join(url), join(url), join(url)])
  return { url, three }
}

/** Waits until exactly one replica has a leadership. */
async function holderOf(leadership: string, cluster: readonly TestReplica[]): Promise<TestReplica> {
  const [holder] = await eventually(
    async () => cluster.filter(({ leaderOf }) => leaderOf.has(leadership)),
    (holders) => holders.length === 1,
  )
  return holder as TestReplica
}

/** Ends the connections of all leaders, as an operator may. @returns their number */
async function endHolders(url: string): Promise<number> {
  const client = await connect(url)
  const { rowCount } = await client.query(`select pg_terminate_backend(pid) from
    (select distinct pid from pg_locks where locktype = 'advisory' and database =
      (select oid from pg_database where datname = current_database())) holders`)
  return rowCount ?? 0
}

describe('a leadership', () => {
  test('goes to one of three replicas, and all know it after their attempt', async () => {
    const { three } = await joinThree()
    await Promise.all(three.map(({ lead }) => lead('chain 1')))
    expect(three.map(({ leaderOf }) => leaderOf.size).sort()).toEqual([0, 0, 1])
    expect(three.flatMap(({ notes }) => notes)).toEqual(['acquired chain 1'])
  })

  test('goes to the first replica that tries to acquire it', async () => {
    const [a, b, c] = (await joinThree()).three
    await a.lead('chain 1')
    await b.lead('chain 2')
    await Promise.all([c.lead('chain 1'), c.lead('chain 2'), b.lead('chain 1')])
    await c.lead('chain 3')
    expect([a, b, c].map(({ notes }) => notes)).toEqual([
      ['acquired chain 1'],
      ['acquired chain 2'],
      ['acquired chain 3'],
    ])
  })

  itSlow('goes to another replica when its holder leaves, and not before', async () => {
    const { three } = await joinThree()
    for (const { lead } of three) await lead('chain 1')
    const [first, ...others] = three
    await others[0]?.close()
    expect(first.leaderOf.size).toBe(1)

    const start = performance.now()
    await first.close()
    await holderOf('chain 1', others)
    expect(performance.now() - start).toBeLessThan(NO_LEADER_MS)
    expect(three.map(({ notes }) => notes)).toEqual([['acquired chain 1'], [], ['acquired chain 1']])
  })
})

itSlow('a full queue of notifications costs messages only, and all learn of it', async () => {
  const { url, stop } = await startPostgres('-c', 'max_notify_queue_pages=64')
  const a = await join(url)
  const b = await join(url)
  const pool = createConnectionPool(url, a.tellMissed)
  onTestFinished(async () => {
    await pool.close()
    await Promise.all([a.close(), b.close()])
    await stop()
  })
  await a.lead('chain 1')
  const neighbour = await connect(url)
  // A listener that is in a transaction keeps all later notifications in the queue.
  await neighbour.query('listen x')
  await neighbour.query('begin')
  const flood = await connect(url)
  const fill = async (): Promise<never> => {
    await flood.query(`select pg_notify('x', repeat('x', 7900))`)
    return fill()
  }
  await expect(fill()).rejects.toMatchObject({ code: '54000' })

  const database = await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
  const store = createSolverStore(database, POSTGRES_COORDINATION)
  await store.save(solver(1), 100, 1)
  a.publish('bonds', '1')
  await a.lead('chain 2')
  expect(await store.readAll()).toHaveLength(1)
  expect([a.notes, b.notes]).toEqual([['acquired chain 1', 'acquired chain 2'], []])
  await neighbour.query('rollback')
  await until(() => b.notes.length === MISSED.length)
  expect(b.notes).toEqual(MISSED)
  expect(a.notes).toHaveLength(2)
})

describeSlow('a connection that the server ends', () => {
  test('ends its leaderships, another replica acquires them, and lost messages are reported', async () => {
    const { url, three } = await joinThree()
    const leaderships = ['chain 1', 'chain 2']
    for (const replica of three) for (const leadership of leaderships) await replica.lead(leadership)
    const [first, ...others] = three
    const start = performance.now()
    expect(await endHolders(url)).toBe(1)
    await eventually(
      async () => first.notes,
      (notes) => notes.includes('lost'),
    )
    for (const leadership of leaderships) await holderOf(leadership, three)
    expect(performance.now() - start).toBeLessThan(NO_LEADER_MS)

    await eventually(
      async () => first.notes,
      (notes) => notes.includes('missed chains'),
    )
    const before = [
      'acquired chain 1',
      'acquired chain 2',
      'lost leadership of chain 1',
      'lost leadership of chain 2',
      'lost',
    ]
    const during = before.length + MISSED.length
    expect(first.notes.slice(0, during)).toEqual([...before, ...MISSED])
    expect(first.isDatabaseUp()).toBe(true)
    const elections = [...first.notes.slice(during), ...others.flatMap(({ notes }) => notes)]
    expect(elections.sort()).toEqual(['acquired chain 1', 'acquired chain 2'])

    first.publish('events', '1')
    others[0]?.publish('events', '2')
    await eventually(
      async () => three.map(({ received }) => received.events.length),
      (counts) => isDeepStrictEqual(counts, [1, 1, 2]),
    )
    expect(first.received.events).toEqual(['2'])
    expect(others.map(({ received }) => [...received.events].sort())).toEqual([['1'], ['1', '2']])
  })

  test('again and again leaves one leader, and no replica keeps two connections', async () => {
    const { url, three } = await joinThree()
    for (const { lead } of three) await lead('chain 1')
    for (let round = 1; round <= 5; round++) {
      const before = await holderOf('chain 1', three)
      const count = before.notes.length
      expect(await endHolders(url)).toBe(1)
      await eventually(
        async () => before.notes.slice(count),
        (notes) => notes.includes('missed chains'),
      )
      await holderOf('chain 1', three)
    }
    const changes = three.flatMap(({ notes }) => notes)
    expect(changes.filter((note) => note === 'acquired chain 1')).toHaveLength(6)
    expect(changes.filter((note) => note === 'lost leadership of chain 1')).toHaveLength(5)
    const client = await connect(url)
    const count = async () =>
      (await client.query(`select pid from pg_stat_activity where ${CONNECTIONS}`)).rowCount
    expect(await eventually(count, (connections) => connections === 3)).toBe(3)
  })
})
