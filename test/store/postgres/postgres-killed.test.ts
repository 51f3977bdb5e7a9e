import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { join, MISSED, type TestReplica, until } from '../../cluster/replica-samples.js'
import { type Postgres, startPostgres } from '../../support/databases/postgres.js'
import { eventually } from '../../support/eventually.js'
import { NO_LIMIT, solver } from '../solvers/solver-samples.js'
import { connect, holdRegistrations, openStores, UNAVAILABLE, waiting } from './postgres-stores-samples.js'

const isLeader = ({ leaderOf }: TestReplica) => leaderOf.has('chain 1')

describe('a server that is killed', () => {
  let server: Postgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  test('ends all leaderships; after its restart one replica leads, and all report lost messages', async () => {
    const three = await Promise.all([join(server.url), join(server.url), join(server.url)])
    for (const { lead } of three) await lead('chain 1')
    await server.kill()
    await until(() => three.every(({ isDatabaseUp }) => !isDatabaseUp()))
    expect(three.map(({ notes }) => notes)).toEqual([
      ['acquired chain 1', 'lost leadership of chain 1', 'lost'],
      ['lost'],
      ['lost'],
    ])
    three[1].publish('events', '1')

    await server.restart()
    await until(() => three.every(({ isDatabaseUp }) => isDatabaseUp()) && three.some(isLeader))
    await until(() => three.every(({ notes }) => notes.includes('missed chains')))
    const since = three.map(({ notes }) => notes.slice(notes.indexOf('lost') + 1))
    const acquired = since.filter((notes) => notes.includes('acquired chain 1'))
    expect(acquired).toEqual([[...MISSED, 'acquired chain 1']])
    expect(since.filter((notes) => !acquired.includes(notes))).toEqual([MISSED, MISSED])
    expect(three.filter(isLeader)).toHaveLength(1)

    three[0].publish('events', '2')
    await until(() => three.slice(1).every(({ received }) => received.events.length > 0))
    expect(three.map(({ received }) => received.events)).toEqual([[], ['2'], ['2']])
  })

  test('fails each call, under way or not, and calls work as soon as it is back', async () => {
    const { solvers, events } = await openStores(server.url)
    await solvers.save(solver(7), 100, NO_LIMIT)
    const client = await connect(server.url)
    await holdRegistrations(server.url)
    const underWay = [solver(1), solver(2)].map((each) => solvers.save(each, 100, NO_LIMIT))
    const refused = underWay.map((save) => expect(save).rejects.toMatchObject(UNAVAILABLE))
    await eventually(
      () => waiting(client),
      ({ length }) => length === 2,
    )
    await server.kill()
    await Promise.all(refused)
    const unavailable = { ...UNAVAILABLE, cause: expect.any(Error) }
    const calls = [solvers.readAll(), solvers.remove(solver(2), 100), events.takeOver(1)]
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(unavailable)))

    await server.restart()
    expect(await solvers.readAll()).toEqual([solver(7)])
    await solvers.save(solver(1), 100, NO_LIMIT)
    expect(await solvers.readAll()).toEqual([solver(1), solver(7)])
    expect(await events.takeOver(1)).toEqual({ chainId: 1, epoch: 1, position: undefined })
  })
})
