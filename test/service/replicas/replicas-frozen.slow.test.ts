import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { type Replica, startReplicaProcesses } from '../../support/replicas/replica-processes.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, withoutCursors } from '../../support/streams/event-messages.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import { webSocket } from '../../support/streams/transports.js'

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 1)
const TAKE_OVER_MS = 5000
const FROZEN_MS = 8000
const TIMEOUT_MS = 60_000

let fromBlock: number

const chain = await shared(startModelChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: SEED })

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
})
