import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NOTIFY } from '../../src/store/postgres/postgres.js'
import { createSolverStore } from '../../src/store/solvers/solver-store.js'
import type { Topic } from '../../src/store/topics.js'
import { inPostgres, postgresAt } from '../store/databases.js'
import { connect } from '../store/postgres/postgres-stores-samples.js'
import { solver } from '../store/solvers/solver-samples.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { eventually } from '../support/eventually.js'
import { join, type TestReplica } from './replica-samples.js'

const texts = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const END = '900'

const create = inPostgres()

async function joinThree() {
  const { url } = await create()
  const three = await Promise.all([join(url), join(url), join(url)])
  return { url, three }
}

/** Waits until replicas have received a number of texts, and returns them. */
function receivedBy(cluster: readonly TestReplica[], count: number, topic: Topic = 'events') {
  return eventually(
    async () => cluster.map(({ received }) => [...received[topic]]),
    (received) => received.every(({ length }) => length >= count),
  )
}

describe('a message of a replica', () => {
  test('reaches all others in order, and not the sender', async () => {
    const { three } = await joinThree()
    const [a, b, c] = three
    const [ofA, ofB] = [texts('1', 100), texts('2', 100)]
    for (const index of ofA.keys()) {
      a.publish('events', ofA[index] ?? '')
      b.publish('events', ofB[index] ?? '')
    }
    const [atA, atB] = await receivedBy([a, b], 100)
    expect([atA, atB]).toEqual([ofB, ofA])
    const [atC] = await receivedBy([c], 200)
    expect(atC?.filter((text) => text.startsWith('1'))).toEqual(ofA)
    expect(atC?.filter((text) => text.startsWith('2'))).toEqual(ofB)

    // A message to itself would have come before this one.
    c.publish('events', END)
    expect(await receivedBy([a, b], 101)).toEqual([
      [...ofB, END],
      [...ofA, END],
    ])
    expect(c.received.events).toHaveLength(200)
  })

  test('reaches the listeners of its topic unchanged', async () => {
    const { three } = await joinThree()
    const [a, b] = three
    const reason = `Größe 🙂 '; drop table solvers; --\n${'x'.repeat(7500)}`
    const unread = { block: 1, endpoint: 'node', reason }
    const long = JSON.stringify({ chainId: 1, snapshot: { status: 'ok', unread } })
    a.publish('chains', long)
    a.publish('bonds', '1')
    a.publish('events', END)
    await receivedBy([b], 1)
    expect(b.received).toEqual({
      solvers: [],
      bonds: ['1'],
      nonces: [],
      chains: [long],
      events: [END],
    })
  })

  test('of another form is dropped and counted', async () => {
    const odd = [
      ['events', ''],
      ['solvers', '1.5'],
      ['bonds', 'null'],
      ['nonces', '{"chainId":1,"orderIds":["0x12"]}'],
      ['nonces', `{"chainId":1,"solver":"0x${'ab'.repeat(20)}","used":[null]}`],
      ['chains', '{"chainId":1}'],
      ['chains', '{"chainId":1,"snapshot":null}'],
      ['chains', '{"chainId":1,"snapshot":{"status":"odd"}}'],
      ['chains', '{"chainId":1,"snapshot":{"status":"ok","head":{"number":"x"}}}'],
      ['chains', '{"chainId":1,"invalidated":["0x12"]}'],
      ['chains', '['],
    ] as const
    const [a, b] = (await joinThree()).three
    for (const [topic, text] of odd) a.publish(topic, text)
    a.publish('events', END)
    await receivedBy([b], 1)
    expect(b.received).toEqual({ events: [END], solvers: [], bonds: [], nonces: [], chains: [] })
    expect(b.notes).toEqual(odd.map(([topic]) => `dropped ${topic}`))
  })

  test('reaches nobody from a role that may not read the tables', async () => {
    const { url, three } = await joinThree()
    const client = await connect(url)
    const role = `lowly_${randomBytes(4).toString('hex')}`
    await client.query(`create role ${role}; set role ${role}`)
    onTestFinished(async () => void (await client.query(`reset role; drop role ${role}`)))
    await expect(client.query(NOTIFY, ['events', '1'])).rejects.toThrow(/permission denied/)
    await client.query(`select pg_notify('quote_aggregator_events', '1')`)
    three[0].publish('events', END)
    expect(await receivedBy([three[1]], 1)).toEqual([[END]])
  })

  test('needs no function that others have made under the name of one of PostgreSQL', async () => {
    const url = await createPostgresDatabase()
    const client = await connect(url)
    for (const [name, result] of [
      ['hashtextextended(text, integer)', 'bigint'],
      ['unnest(text[])', 'setof text'],
      ['sha256(text)', 'bytea'],
    ])
      await client.query(`create function ${name} returns ${result} language plpgsql as
        $$ begin raise exception 'this is not of PostgreSQL'; end $$`)
    const [a, b] = await Promise.all([join(url), join(url)])
    await a.lead('chain 1')
    const { database, coordination } = await postgresAt(url).open()
    await createSolverStore(database, coordination).save(solver(1), 100, 1)
    a.publish('events', END)
    expect([await receivedBy([b], 1), a.notes]).toEqual([[[END]], ['acquired chain 1']])
    expect(b.received.solvers).toEqual(['1'])
  })
})

describe('a notification in a transaction', () => {
  test('reaches all replicas after the commit, and none without a commit', async () => {
    const { url, three } = await joinThree()
    const { database, coordination } = await postgresAt(url).open()
    const transaction = await database.startTransaction().execute()
    await coordination.notify(transaction, 'events', '1')
    const undone = await database.startTransaction().execute()
    await coordination.notify(undone, 'events', '2')
    await undone.rollback().execute()
    three[0].publish('events', '3')
    const [, ...others] = three
    expect(await receivedBy(others, 1)).toEqual([['3'], ['3']])

    await transaction.commit().execute()
    const after = ['3', '1']
    expect(await receivedBy(others, 2)).toEqual([after, after])
    expect(await receivedBy([three[0]], 1)).toEqual([['1']])
  })
})
