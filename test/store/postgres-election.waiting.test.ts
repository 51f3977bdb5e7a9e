import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createPostgresDatabase } from '../postgres-database.js'
import { eventually } from '../service/eventually.js'
import { CONNECTIONS, connect } from './postgres-stores-samples.js'
import { join, MISSED, type TestReplica } from './replica-samples.js'

/** How long an office may be free. */
const FREE_MS = 2000

async function joinThree() {
  const url = await createPostgresDatabase()
  const three = await Promise.all([join(url), join(url), join(url)])
  return { url, three }
}

/** Waits until exactly one of them has an office. */
async function holderOf(office: string, cluster: readonly TestReplica[]): Promise<TestReplica> {
  const [holder] = await eventually(
    async () => cluster.filter(({ elected }) => elected.has(office)),
    (holders) => holders.length === 1,
  )
  return holder as TestReplica
}

/** Ends the connections that hold offices, as an operator may. @returns how many these were */
async function endHolders(url: string): Promise<number> {
  const client = await connect(url)
  const { rowCount } = await client.query(`select pg_terminate_backend(pid) from
    (select distinct pid from pg_locks where locktype = 'advisory' and database =
      (select oid from pg_database where datname = current_database())) holders`)
  return rowCount ?? 0
}

describe('an office', () => {
  test('goes to one of three, who all know it once they have run for it', async () => {
    const { three } = await joinThree()
    await Promise.all(three.map(({ run }) => run('chain 1')))
    expect(three.map(({ elected }) => elected.size).sort()).toEqual([0, 0, 1])
    expect(three.flatMap(({ notes }) => notes)).toEqual(['elected chain 1'])
  })

  test('goes to the first who runs for it, each for itself', async () => {
    const [a, b, c] = (await joinThree()).three
    await a.run('chain 1')
    await b.run('chain 2')
    await Promise.all([c.run('chain 1'), c.run('chain 2'), b.run('chain 1')])
    await c.run('chain 3')
    expect([a, b, c].map(({ notes }) => notes)).toEqual([
      ['elected chain 1'],
      ['elected chain 2'],
      ['elected chain 3'],
    ])
  })

  test('is held by one replica together with others that it runs for', async () => {
    const [a, b] = (await joinThree()).three
    await Promise.all([a.run('chain 1'), a.run('chain 2')])
    await Promise.all([b.run('chain 1'), b.run('chain 2')])
    expect([...a.elected].sort()).toEqual(['chain 1', 'chain 2'])
    expect(b.notes).toEqual([])
  })

  test('of one database is not that of another', async () => {
    const [a] = (await joinThree()).three
    const [b] = (await joinThree()).three
    await a.run('chain 1')
    await b.run('chain 1')
    expect([a, b].map(({ notes }) => notes)).toEqual([['elected chain 1'], ['elected chain 1']])
  })

  test('goes to another when its holder leaves, and to nobody else before', async () => {
    const { three } = await joinThree()
    for (const { run } of three) await run('chain 1')
    const [first, ...others] = three
    await others[0]?.close()
    expect(first.elected.size).toBe(1)

    const start = performance.now()
    await first.close()
    await holderOf('chain 1', others)
    expect(performance.now() - start).toBeLessThan(FREE_MS)
    expect(three.map(({ notes }) => notes)).toEqual([['elected chain 1'], [], ['elected chain 1']])
  })
})

describe('a connection that the server ends', () => {
  test('costs its offices, which somebody gets, and what was told meanwhile is read anew', async () => {
    const { url, three } = await joinThree()
    const offices = ['chain 1', 'chain 2']
    for (const replica of three) for (const office of offices) await replica.run(office)
    const [first, ...others] = three
    const start = performance.now()
    expect(await endHolders(url)).toBe(1)
    await eventually(
      async () => first.notes,
      (notes) => notes.includes('lost'),
    )
    for (const office of offices) await holderOf(office, three)
    expect(performance.now() - start).toBeLessThan(FREE_MS)

    await eventually(
      async () => first.notes,
      (notes) => notes.includes('missed chains'),
    )
    const before = ['elected chain 1', 'elected chain 2', 'deposed chain 1', 'deposed chain 2', 'lost']
    const during = before.length + MISSED.length
    expect(first.notes.slice(0, during)).toEqual([...before, ...MISSED])
    expect(first.isDatabaseUp()).toBe(true)
    const elections = [...first.notes.slice(during), ...others.flatMap(({ notes }) => notes)]
    expect(elections.sort()).toEqual(['elected chain 1', 'elected chain 2'])

    first.publish('events', 'again')
    others[0]?.publish('events', 'heard')
    await eventually(
      async () => three.map(({ heard }) => heard.events.length),
      (counts) => isDeepStrictEqual(counts, [1, 1, 2]),
    )
    expect(first.heard.events).toEqual(['heard'])
    expect(others.map(({ heard }) => [...heard.events].sort())).toEqual([['again'], ['again', 'heard']])
  })

  test('again and again leaves one holder, and nobody keeps two connections', async () => {
    const { url, three } = await joinThree()
    for (const { run } of three) await run('chain 1')
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
    expect(changes.filter((note) => note === 'elected chain 1')).toHaveLength(6)
    expect(changes.filter((note) => note === 'deposed chain 1')).toHaveLength(5)
    const client = await connect(url)
    const count = async () =>
      (await client.query(`select pid from pg_stat_activity where ${CONNECTIONS}`)).rowCount
    expect(await eventually(count, (connections) => connections === 3)).toBe(3)
  })
})
