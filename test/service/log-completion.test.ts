import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../support/chain/chain.js'
import { expectedOrders, type OrderMessage } from '../support/chain/chain-orders.js'
import { createTraffic } from '../support/chain/event-traffic.js'
import { listOrders } from '../support/clients/list-orders.js'
import { makeLogOlder } from '../support/databases/older-log.js'
import { databases } from '../support/databases/service-databases.js'
import { eventually } from '../support/eventually.js'
import { startRpcProxy } from '../support/faults/rpc-proxy.js'
import { environmentForAll } from '../support/service/event-service.js'
import { startService, type TestService } from '../support/service/service.js'
import { type EventMessage, expectedMessages } from '../support/streams/event-messages.js'
import { webSocket, withoutCursors } from '../support/streams/transports.js'

/** Several pages of the completion. */
const EVENTS = 180

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

/** A database with the log of an older version, and the variables for a service on it. */
async function makeOlderDatabase(make: (typeof databases)[number][1]) {
  const { environment: database, drop } = await make()
  onTestFinished(drop)
  const environment = {
    ...environmentForAll([chain]),
    ...database,
    [`START_BLOCK_${chain.chainId}`]: '0',
  }
  const before = await startService(chain, environment)
  await eventually(
    () => listed(before),
    ({ length }) => length === orders.length,
  )
  await before.close()
  await makeLogOlder(database)
  return environment
}

async function open(environment: Record<string, string>): Promise<TestService> {
  const service = await startService(chain, environment)
  onTestFinished(() => service.close())
  return service
}

const listed = (service: TestService) => listOrders(chain.chainId, { pageSize: 200 }, () => service)

/** All events of the log, as a new subscriber gets them. */
async function replayed({ url }: TestService) {
  const client = webSocket.open(url, { after: 'earliest' })
  const messages = await client.take(events.length)
  client.leave()
  return withoutCursors(messages)
}

/** Waits until a value is as expected, and compares it, so that a failure shows the difference. */
async function expectAtLast<T>(read: () => Promise<T>, expected: T): Promise<void> {
  const last = await eventually(read, (value) => textOf(value) === textOf(expected)).catch(read)
  expect(last).toEqual(expected)
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

describe.each(databases)('the log of an older version on %s', (_kind, make) => {
  it('gets its orders, transactions and times while the service runs', async () => {
    const service = await open(await makeOlderDatabase(make))
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
  })

  it('is complete after many short runs', async () => {
    const environment = await makeOlderDatabase(make)
    for (let run = 0; run < 6; run++) await (await startService(chain, environment)).close()
    const service = await open(environment)
    await expectAtLast(() => listed(service), orders)
    await expectAtLast(() => replayed(service), events)
  })
})

it('orders are listed without transactions as long as the node does not have the old logs', async () => {
  const [[, make]] = databases as [(typeof databases)[number]]
  const environment = await makeOlderDatabase(make)
  const proxy = await startRpcProxy(chain.devnet.rpcUrl)
  onTestFinished(() => proxy.close())
  proxy.intercept(async ({ method }, pass) =>
    method === 'eth_getLogs' ? { error: { code: -32_000, message: 'history has been pruned' } } : pass(),
  )
  const service = await open({ ...environment, [`RPC_URL_${chain.chainId}`]: proxy.url })
  await expectAtLast(() => listed(service), orders.map(withoutTransactions))
  expect((await replayed(service)).every(({ transactionHash }) => transactionHash === undefined)).toBe(true)
  proxy.intercept()
  await expectAtLast(() => listed(service), orders)
  await expectAtLast(() => replayed(service), events)
})

it('followers serve the completed events from memory as well', async () => {
  const [, [, make]] = databases as [unknown, (typeof databases)[number]]
  const environment = await makeOlderDatabase(make)
  const proxy = await startRpcProxy(chain.devnet.rpcUrl)
  onTestFinished(() => proxy.close())
  proxy.setHanging(true)
  const leader = await open({ ...environment, [`RPC_URL_${chain.chainId}`]: proxy.url })
  const follower = await open(environment)
  const first = await replayed(follower)
  expect(first.some(({ transactionHash }) => transactionHash === undefined)).toBe(true)
  proxy.setHanging(false)
  for (const replica of [leader, follower]) await expectAtLast(() => replayed(replica), events)
})

/** An order before the transactions of its events are known. */
function withoutTransactions({ deposited, settled, refunded, ...order }: OrderMessage) {
  const steps = Object.entries({ deposited, settled, refunded }).flatMap(([name, step]) =>
    step === undefined ? [] : [[name, { blockNumber: step.blockNumber }]],
  )
  return { ...order, ...Object.fromEntries(steps) }
}
