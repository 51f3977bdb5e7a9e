import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { connect } from '../store/postgres/postgres-stores-samples.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { eventually } from '../support/eventually.js'
import { describeSlow, itSlow } from '../support/rounds.js'
import { join, MISSED, type TestReplica } from './replica-samples.js'

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
})
