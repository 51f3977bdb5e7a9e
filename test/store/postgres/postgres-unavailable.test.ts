import dns from 'node:dns'
import { isIP } from 'node:net'
import { Kysely } from 'kysely'
import pg from 'pg'
import { describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest'
import type { DatabaseTransaction } from '../../../src/store/database.js'
import { FencedError } from '../../../src/store/events/chain-positions.js'
import {
  createConnectionPool,
  mapConnectionErrors,
  POSTGRES_COORDINATION,
} from '../../../src/store/postgres/postgres.js'
import type { Schema } from '../../../src/store/schema.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import type { Topic } from '../../../src/store/topics.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { freePort } from '../../support/free-port.js'
import { header, newBlocks, SETTLEMENT, STANDS, settled } from '../events/event-samples.js'
import { NO_LIMIT, solver } from '../solvers/solver-samples.js'
import {
  CONNECTIONS,
  connect,
  holdRegistrations,
  openStores,
  UNAVAILABLE,
  waiting,
} from './postgres-stores-samples.js'

type LookupAll = (
  host: string,
  options: object,
  done: (error: null, all: dns.LookupAddress[]) => void,
) => void
/** The error of a pool. */
const MAX_CONNECTIONS = 10

test.each([
  ['an address rejects', '127.0.0.1'],
  ['every address of a name rejects', 'many.test'],
])('calls report it when %s connections', async (_what, host) => {
  const port = await freePort()
  // The addresses of a name differ from machine to machine.
  const addresses = ['::1', '127.0.0.1'].map((address) => ({ address, family: isIP(address) }))
  const lookup = vi.spyOn(dns, 'lookup') as unknown as MockInstance<LookupAll>
  lookup.mockImplementation((_host, _options, done) => done(null, addresses))
  onTestFinished(() => lookup.mockRestore())
  const pool = createConnectionPool(`postgres://postgres@${host}:${port}/postgres`)
  onTestFinished(pool.close)
  const store = mapConnectionErrors(createSolverStore(new Kysely<Schema>({ dialect: pool.dialect() })))
  await expect(store.readAll()).rejects.toMatchObject(UNAVAILABLE)
  await expect(store.save(solver(1), 100, NO_LIMIT)).rejects.toMatchObject(UNAVAILABLE)
})

describe('when the server ends a connection during a transaction', () => {
  test('between two statements, the call fails, and the transaction leaves nothing', async () => {
    const url = await createPostgresDatabase()
    const client = await connect(url)
    /** Ends the connection of the transaction that notifies, and checks that it is gone. */
    async function endOwn(_transaction: DatabaseTransaction, _topic: Topic, text: string): Promise<void> {
      const idle = `${CONNECTIONS} and state = 'idle in transaction'`
      const { rowCount } = await client.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where ${idle}`)
      if (rowCount !== 1) throw new Error(`${rowCount} transactions notify ${text}`)
    }
    const { events, solvers } = await openStores(url)
    const { events: ended, solvers: endedSolvers } = await openStores(url, {
      coordination: { ...POSTGRES_COORDINATION, notify: endOwn },
    })
    const token = await events.takeOver(1)
    await events.begin(token, SETTLEMENT, header(10))
    await expect(ended.append(token, newBlocks(11, 11, [settled(1, 11, 0)]))).rejects.toMatchObject(
      UNAVAILABLE,
    )
    await expect(endedSolvers.save(solver(1), 100, NO_LIMIT)).rejects.toMatchObject(UNAVAILABLE)
    expect(await ended.readState()).toMatchObject({ lastSequence: 0 })
    expect((await events.takeOver(1)).position?.headers).toEqual([header(10)])
    expect([await solvers.readAll(), await solvers.lastTimestamp(solver(1))]).toEqual([[], undefined])
  })

  test('during statements, their calls fail and leave nothing, and a waiting call succeeds', async () => {
    const url = await createPostgresDatabase()
    const client = await connect(url)
    const { solvers, events } = await openStores(url)
    const letGo = await holdRegistrations(url)
    const calls = Array.from({ length: MAX_CONNECTIONS }, (_, number) =>
      number % 2 === 0 ? solvers.readAll() : solvers.save(solver(number), 100, NO_LIMIT),
    )
    const refused = calls.map((call) => expect(call).rejects.toMatchObject(UNAVAILABLE))
    const pids = await eventually(
      () => waiting(client),
      ({ length }) => length === MAX_CONNECTIONS,
    )
    const next = events.readState()
    await client.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [
      pids.map(({ pid }) => pid),
    ])
    await Promise.all(refused)
    expect(await next).toMatchObject({ lastSequence: 0 })
    await letGo()
    expect([await solvers.readAll(), await solvers.lastTimestamp(solver(1))]).toEqual([[], undefined])
    await solvers.save(solver(1), 100, NO_LIMIT)
    expect(await solvers.readAll()).toEqual([solver(1)])
  })
})

test('a renewed pool closes its connections and opens new ones', async () => {
  const url = await createPostgresDatabase()
  const client = await connect(url)
  const { pool, solvers } = await openStores(url)
  const connections = async () =>
    (await client.query(`select pid from pg_stat_activity where ${CONNECTIONS}`)).rows
  await Promise.all([solvers.readAll(), solvers.readAll()])
  const before = await connections()
  expect(before.length).toBeGreaterThan(0)
  pool.renew()
  expect(await solvers.readAll()).toEqual([])
  const after = await eventually(connections, ({ length }) => length === 1)
  expect(before).not.toContainEqual(after[0])
})

test('errors of statements, and of rules that the database enforces, reach the caller unchanged', async () => {
  const { events } = await openStores(await createPostgresDatabase())
  const token = await events.takeOver(1)
  await events.append(token, newBlocks(11, 11, [settled(1, 11, 0)]))
  const twice = events.append(token, newBlocks(12, 12, [settled(1, 11, 0)]))
  await expect(twice).rejects.toThrow(STANDS)
  await expect(twice).rejects.toBeInstanceOf(pg.DatabaseError)
  await events.takeOver(1)
  await expect(events.revert(token, header(11))).rejects.toThrow(FencedError)
})
