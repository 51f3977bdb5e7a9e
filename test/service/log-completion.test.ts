import { afterAll, beforeAll, describe, expect, it, type onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../support/chain/chain.js'
import { expectedOrders, type OrderMessage } from '../support/chain/chain-orders.js'
import { createTraffic } from '../support/chain/event-traffic.js'
import { listOrders } from '../support/clients/list-orders.js'
import { makeOlderDatabase } from '../support/databases/older-log.js'
import { databases } from '../support/databases/service-databases.js'
import { expectAtLast } from '../support/expect-at-last.js'
import { startRpcProxy } from '../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../support/service/service.js'
import { type EventMessage, expectedMessages } from '../support/streams/event-messages.js'
import { webSocket, withoutCursors } from '../support/streams/transports.js'

/** More pages of the completion than may stay without an answer in a row. */
const EVENTS = 120

type MakeDatabase = (typeof databases)[number][1]

let chain: TestChain
let events: EventMessage[]
let orders: OrderMessage[]
let head: number

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  const traffic = await createTraffic(chain, { seed: 77 })
  await traffic.run({ events: EVENTS, blocks: 12 })
  head = (await traffic.head()).number
  events = await expectedMessages(chain)
  orders = await expectedOrders(chain, head)
})
afterAll(() => chain?.stop())

/** Each of the tests, which run at the same time, removes with its own hook what it has made. */
type WhenFinished = typeof onTestFinished

/** The variables for a service on the log of an older version. */
async function makeOlder(make: MakeDatabase, whenFinished: WhenFinished): Promise<Record<string, string>> {
  const { environment, drop } = await makeOlderDatabase(chain, orders.length, make)
  whenFinished(drop)
  return environment
}

async function open(environment: Record<string, string>, whenFinished: WhenFinished): Promise<TestService> {
  const service = await startService(chain, environment)
  whenFinished(() => service.close())
  return service
}

/** A node whose answers the test can change. */
async function openNode(whenFinished: WhenFinished) {
  const proxy = await startRpcProxy(chain.devnet.rpcUrl)
  whenFinished(() => proxy.close())
  return { proxy, environment: { [`RPC_URL_${chain.chainId}`]: proxy.url } }
}

const listed = (service: TestService) => listOrders(chain.chainId, { pageSize: 200 }, () => service)

/** All events of the log, as a new subscriber gets them. */
async function replayed({ url }: TestService) {
  const client = webSocket.open(url, { after: 'earliest' })
  const messages = await client.take(events.length)
  client.leave()
  return withoutCursors(messages)
}

describe.concurrent('the log of an older version', () => {
  it.for(databases)(
    'gets its orders, transactions and times while the service runs, on %s',
    async ([, make], { onTestFinished }) => {
      const service = await open(await makeOlder(make, onTestFinished), onTestFinished)
      const live = webSocket.open(service.url)
      await live.connected()
      await expectAtLast(() => listed(service), orders)
      await expectAtLast(() => replayed(service), events)
      const [{ orderId }] = events as [EventMessage]
      const order = orders.find((one) => one.orderId === orderId)
      expect((await service.get(`/v1/${chain.chainId}/order/${orderId}`)).body).toEqual(order)
      // The completion is no event.
      expect(live.events()).toEqual([])
      live.leave()
    },
  )

  it.for(databases)('is complete after many short runs, on %s', async ([, make], { onTestFinished }) => {
    const environment = await makeOlder(make, onTestFinished)
    for (let run = 0; run < 6; run++) await (await startService(chain, environment)).close()
    const service = await open(environment, onTestFinished)
    await expectAtLast(() => listed(service), orders)
    await expectAtLast(() => replayed(service), events)
  })

  it('has orders without transactions as long as the node does not have the old logs', async ({
    onTestFinished,
  }) => {
    const [[, make]] = databases as [(typeof databases)[number]]
    const environment = await makeOlder(make, onTestFinished)
    const { proxy, environment: node } = await openNode(onTestFinished)
    proxy.intercept(async ({ method }, pass) =>
      method === 'eth_getLogs' ? { error: { code: -32_000, message: 'history has been pruned' } } : pass(),
    )
    const service = await open({ ...environment, ...node }, onTestFinished)
    await expectAtLast(() => listed(service), orders.map(withoutTransactions))
    const messages = await replayed(service)
    expect(messages.every(({ transactionHash }) => transactionHash === undefined)).toBe(true)
    proxy.intercept()
    await expectAtLast(() => listed(service), orders)
    await expectAtLast(() => replayed(service), events)
  })

  it('is served by followers from memory as well when it is complete', async ({ onTestFinished }) => {
    const [, [, make]] = databases as [unknown, (typeof databases)[number]]
    const environment = await makeOlder(make, onTestFinished)
    const { proxy, environment: node } = await openNode(onTestFinished)
    proxy.setHanging(true)
    const leader = await open({ ...environment, ...node }, onTestFinished)
    const follower = await open(environment, onTestFinished)
    const first = await replayed(follower)
    expect(first.some(({ transactionHash }) => transactionHash === undefined)).toBe(true)
    proxy.setHanging(false)
    for (const replica of [leader, follower]) await expectAtLast(() => replayed(replica), events)
  })
})

/** An order before the transactions of its events are known. */
function withoutTransactions({ deposited, settled, refunded, ...order }: OrderMessage) {
  const steps = Object.entries({ deposited, settled, refunded }).flatMap(([name, step]) =>
    step === undefined ? [] : [[name, { blockNumber: step.blockNumber }]],
  )
  return { ...order, ...Object.fromEntries(steps) }
}
