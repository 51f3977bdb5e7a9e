import { describe, expect, it } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas, startReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { webSocket } from '../../support/streams/transports.js'
import { watchEvents } from '../../support/streams/watch-events.js'

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 1)

const chain = await shared(startModelChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: SEED })

/** Mines a block with a deposit in it. @returns the order's id */
async function deposit(): Promise<string> {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  return order.orderId
}

const stateAt = async (replica: TestService, orderId: string): Promise<string> =>
  (await replica.get(`/v1/${chain.chainId}/order/${orderId}`)).body.state

/** Resolves when a replica knows the last block. */
async function untilSeen(replica: TestService): Promise<void> {
  const { number } = await traffic.head()
  await eventually(
    async () => (await replica.get('/health')).body.chains[0],
    ({ status, headBlock }) => status === 'ok' && headBlock >= number,
  )
}

/** A leader of the chain and a follower replica. Each reaches the database by a link. */
async function startLinked(environment: Record<string, string> = {}) {
  const replicas = await openReplicas(chain)
  const link = async () => replicas.closing(await startDatabaseLink(replicas.databaseUrl))
  const links = { reader: await link(), other: await link() }
  const reader = await replicas.start({ DATABASE_URL: links.reader.url })
  const other = await replicas.start({ DATABASE_URL: links.other.url, ...environment })
  return { replicas, links, reader, other }
}

/** The same, with an order that the follower has in memory, and its subscriber and node. */
async function startRemembered() {
  const rpc = await startRpcProxy(chain.devnet.rpcUrl)
  const linked = await startLinked({ [`RPC_URL_${chain.chainId}`]: rpc.url })
  const { replicas, other } = linked
  replicas.closing(rpc)
  const events = replicas.closing(await watchEvents(other))
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  await events.untilCount(1)
  await untilSeen(other)
  expect(await stateAt(other, order.orderId)).toBe('DEPOSITED')
  // The replica reads the token of bonds once, in the background.
  await eventually(
    async () => (await other.get('/v1/chains')).body.chains[0],
    ({ bondToken }) => bondToken !== undefined,
  )
  rpc.forgetCalls()
  return { ...linked, rpc, order, events }
}

describe('the events of one leader', () => {
  it('reach the subscribers of all replicas, with reorganisations', async () => {
    const { services } = await startReplicas(chain)
    const fromBlock = (await traffic.head()).number + 1
    const streams = services.map(({ url }) => webSocket.open(url))
    await Promise.all(streams.map((stream) => stream.connected()))
    const untilReceived = (orderId: string) =>
      Promise.all(
        streams.map((stream) =>
          stream.until((message) => 'orderId' in message && message.orderId === orderId),
        ),
      )
    for (let round = 0; round < 3; round++) {
      await traffic.run({ events: 10, blocks: 5 })
      await untilReceived(await deposit())
      await traffic.reorganiseAtRandom({ depth: 3, events: 4, longerBy: round })
    }
    await untilReceived(await deposit())
    const received = streams.map((stream) => stream.events())
    expect(received[0]?.some(({ type }) => type === 'Reverted')).toBe(true)
    expect(standing(received[0] ?? [])).toEqual(await expectedMessages(chain, fromBlock))
    expect(received[1]).toEqual(received[0])
    expect(received[2]).toEqual(received[0])
    for (const stream of streams) stream.leave()
  })
})

describe('the state of an order at a follower replica', () => {
  it('is not older than an event whose chain state comes after it', async () => {
    const { links, other, order, events } = await startRemembered()
    const held = links.reader.hold('statements', '"touched"')
    await traffic.mine([traffic.actions.fill(order)])
    await events.untilCount(2)
    expect(await stateAt(other, order.orderId)).toBe('SETTLED')
    held.release()
  })
})
