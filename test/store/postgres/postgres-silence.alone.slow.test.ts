import { describe, expect, type onTestFinished, test } from 'vitest'
import type { Coordination } from '../../../src/store/database.js'
import { FencedError } from '../../../src/store/events/chain-positions.js'
import { POSTGRES_COORDINATION } from '../../../src/store/postgres/postgres.js'
import { join, type TestReplica, until } from '../../cluster/replica-samples.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { startDatabaseProxy } from '../database-proxy.js'
import { header, newBlocks, publishedEntries, SETTLEMENT, settled } from '../events/event-samples.js'
import { NO_LIMIT, solver } from '../solvers/solver-samples.js'
import { connect, openStores, UNAVAILABLE } from './postgres-stores-samples.js'

/** Time after which a replica must know that its connection is silent. */
const LOST_MS = 4000
/** Longest time without a leader. */
const NO_LEADER_MS = 5000
/** Longest wait of a caller for an answer that does not come. */
const ANSWERED_MS = 6000
/** Longest wait of others for the locks of an unreachable replica. */
const HELD_MS = 4500
const TIMEOUT_MS = 30_000

const isLeader = ({ leaderOf }: TestReplica) => leaderOf.has('chain 1')

/** A leader that connects through a proxy, and a follower replica. */
async function joinTwo(whenFinished: typeof onTestFinished) {
  const url = await createPostgresDatabase(whenFinished)
  const proxy = await startDatabaseProxy(url, whenFinished)
  const [far, near] = [await join(proxy.url, whenFinished), await join(url, whenFinished)]
  for (const { lead } of [far, near]) await lead('chain 1')
  return { url, proxy, far, near }
}

const blocks = newBlocks(11, 11, [settled(1, 11, 0)])

async function timeOf(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return performance.now() - start
}

// They run at the same time, because they only wait.
describe.concurrent('a write', () => {
  test(
    'that has to wait for too long fails, and no part of it is written with later entries',
    async (context) => {
      const url = await createPostgresDatabase(context.onTestFinished)
      const client = await connect(url, context.onTestFinished)
      const { events, solvers } = await openStores(url, { whenFinished: context.onTestFinished })
      const token = await events.takeOver(1)
      await events.begin(token, SETTLEMENT, header(10))
      await client.query('begin; select * from event_log for update')
      const refused = expect(events.append(token, blocks)).rejects.toMatchObject(UNAVAILABLE)
      expect(await timeOf(refused)).toBeLessThan(ANSWERED_MS)
      await client.query('rollback')

      const solversOf = (chainId: number) => [1, 2, 3].map((number) => solver(number, { chainId }))
      const saves = [1, 2, 3, 4].flatMap(solversOf).map((each) => solvers.save(each, 100, NO_LIMIT))
      expect(await Promise.all(saves)).toHaveLength(12)
      const next = await events.takeOver(1)
      expect(next.position?.headers).toEqual([header(10)])
      expect(await events.append(next, blocks)).toStrictEqual(publishedEntries(1, ...blocks.events))
    },
    TIMEOUT_MS,
  )

  test(
    'that falls silent midway fails, and does not prevent other writes',
    async (context) => {
      const { onTestFinished: whenFinished } = context
      const url = await createPostgresDatabase(whenFinished)
      const proxy = await startDatabaseProxy(url, whenFinished)
      const near = await openStores(url, { whenFinished })
      let takenOver: Promise<number> | undefined
      const notify: Coordination['notify'] = async () => {
        proxy.silence()
        takenOver = timeOf(near.events.takeOver(1))
      }
      const far = await openStores(proxy.url, {
        whenFinished,
        coordination: { ...POSTGRES_COORDINATION, notify },
      })
      const token = await far.events.takeOver(1)
      await far.events.begin(token, SETTLEMENT, header(10))
      const refused = expect(far.events.append(token, blocks)).rejects.toMatchObject(UNAVAILABLE)
      expect(await timeOf(refused)).toBeLessThan(ANSWERED_MS)
      expect(await takenOver).toBeLessThan(HELD_MS)

      const next = await near.events.takeOver(1)
      expect(next.position?.headers).toEqual([header(10)])
      expect(await near.events.append(next, blocks)).toStrictEqual(publishedEntries(1, ...blocks.events))
      proxy.speak()
      expect(await near.events.readAfter(0, 10)).toStrictEqual(publishedEntries(1, ...blocks.events))
      await expect(far.events.append(token, newBlocks(12, 12, []))).rejects.toThrow(FencedError)
    },
    TIMEOUT_MS,
  )
})

describe.concurrent('a connection', () => {
  test(
    'that is silent is given up with its leadership, which another replica acquires',
    async (context) => {
      const { proxy, far, near } = await joinTwo(context.onTestFinished)
      proxy.silence()
      const [lost, acquired] = await Promise.all([until(() => !isLeader(far)), until(() => isLeader(near))])
      expect(lost).toBeLessThan(LOST_MS)
      expect(acquired).toBeLessThan(NO_LEADER_MS)
      expect([far.isDatabaseUp(), far.notes]).toEqual([
        false,
        ['acquired chain 1', 'lost leadership of chain 1', 'lost'],
      ])
      near.publish('events', '7')

      proxy.speak()
      await until(() => far.isDatabaseUp() && far.notes.includes('missed chains'))
      near.publish('events', '8')
      await until(() => far.received.events.length > 0)
      expect(far.received.events).toEqual(['8'])
      expect(near.notes).toEqual(['acquired chain 1'])
    },
    TIMEOUT_MS,
  )
})
