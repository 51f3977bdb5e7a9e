import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { type Replica, startReplicaProcesses } from '../../support/replicas/replica-processes.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import { webSocket, withoutCursors } from '../../support/streams/transports.js'

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 1)
const TAKE_OVER_MS = 5000
const FROZEN_MS = 8000
const TIMEOUT_MS = 60_000

let chain: TestChain
let traffic: Traffic
let fromBlock: number

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: SEED })
})
afterAll(() => chain?.stop())

async function openStream({ url }: Pick<TestService | Replica, 'url'>): Promise<StreamClient> {
  fromBlock = (await traffic.head()).number + 1
  const stream = webSocket.open(url)
  await stream.connected()
  return stream
}

/** Mines a block with a deposit in it, and waits until all subscribers have it. */
async function publishToAll(streams: readonly StreamClient[]): Promise<void> {
  const { orderId } = await deposit()
  await Promise.all(
    streams.map((stream) => stream.until((message) => 'orderId' in message && message.orderId === orderId)),
  )
}

async function deposit() {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  return order
}

/** All streams have sent the events of the chain, once and in order. */
async function expectWhole(streams: readonly StreamClient[]): Promise<void> {
  const expected = await expectedMessages(chain, fromBlock)
  for (const stream of streams) {
    expect(withoutCursors(stream.events())).toEqual(expected)
    expect(stream.events()).toEqual(streams[0]?.events())
  }
}

/** How often a leader was elected so far. */
async function epochs(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query('select epoch::int from chain_leaders')
  await client.end()
  return rows[0].epoch
}

describe('the leader of a chain', () => {
  it(
    'is replaced when it is frozen, and writes nothing when it continues',
    async () => {
      const { databaseUrl } = await openReplicas(chain)
      const fleet = await startReplicaProcesses(chain, databaseUrl, {
        size: 2,
        environment: { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' },
      })
      onTestFinished(fleet.stop)
      const leader = await fleet.leader()
      const other = fleet.after(leader)
      const streams = [await openStream(other), await openStream(leader)] as const
      await publishToAll(streams)

      leader.freeze()
      const frozenAt = performance.now()
      await publishToAll([streams[0]])
      expect(performance.now() - frozenAt).toBeLessThan(TAKE_OVER_MS)
      const epoch = await epochs(databaseUrl)
      while (performance.now() - frozenAt < FROZEN_MS) await traffic.run({ events: 4, blocks: 2 })

      leader.thaw()
      await traffic.run({ events: 40, blocks: 20 })
      await publishToAll(streams)
      expect(await leader.isLeader(chain.chainId)).toBe(false)
      expect(await other.isLeader(chain.chainId)).toBe(true)
      expect(await epochs(databaseUrl)).toBe(epoch)
      await expectWhole(streams)
      for (const stream of streams) stream.leave()
    },
    TIMEOUT_MS,
  )

  it(
    'is replaced when its machine stops in the middle of a write, and others may write',
    async () => {
      const replicas = await openReplicas(chain)
      const link = replicas.closing(await startDatabaseLink(replicas.databaseUrl))
      const leader = await replicas.start({ DATABASE_URL: link.url })
      const other = await replicas.start()
      const streams = [await openStream(other), await openStream(leader)] as const
      await publishToAll(streams)

      const silence = link.hold('everything', 'insert into "events"')
      const stopped = deposit()
      await silence.reached
      const stoppedAt = performance.now()
      const { orderId } = await stopped
      await streams[0].until((message) => 'orderId' in message && message.orderId === orderId)
      expect(performance.now() - stoppedAt).toBeLessThan(TAKE_OVER_MS)
      await publishToAll([streams[0]])

      silence.release()
      await traffic.run({ events: 40, blocks: 20 })
      await publishToAll(streams)
      await expectWhole(streams)
      for (const stream of streams) stream.leave()
    },
    TIMEOUT_MS,
  )

  it('drops an unfinished read when it has lost its lead and acquired it again', async () => {
    const replicas = await openReplicas(chain)
    const rpc = replicas.closing(await startRpcProxy(chain.devnet.rpcUrl))
    const link = replicas.closing(await startDatabaseLink(replicas.databaseUrl))
    const leader = await replicas.start({
      DATABASE_URL: link.url,
      [`RPC_URL_${chain.chainId}`]: rpc.url,
      MAX_REORG_DEPTH: '2',
    })
    const stream = await openStream(leader)
    await publishToAll([stream])
    rpc.setUp(false)
    await traffic.run({ events: 60, blocks: 30 })

    // Of the events since then, it reads the first part, and gets no answer for a long time.
    const [asked, answered] = [deferred(), deferred()]
    let isHeld = false
    rpc.intercept(async ({ method }, pass) => {
      const reply = await pass()
      if (method !== 'eth_getLogs' || isHeld) return reply
      isHeld = true
      asked.open()
      await answered.opened
      return reply
    })
    rpc.setUp(true)
    await asked.opened
    const before = await epochs(replicas.databaseUrl)
    link.cut()
    link.restore()
    await eventually(
      () => epochs(replicas.databaseUrl),
      (now) => now > before,
    )
    await publishToAll([stream])
    // At the time of the answer, the chain has lost all of it.
    await traffic.reorganise((await traffic.head()).number - fromBlock)
    await publishToAll([stream])
    answered.open()
    await traffic.run({ events: 20, blocks: 10 })
    await publishToAll([stream])
    expect(standing(stream.events())).toEqual(await expectedMessages(chain, fromBlock))
    stream.leave()
  })
})
