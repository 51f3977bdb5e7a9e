import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { expectedOrders, type OrderMessage } from '../../support/chain/chain-orders.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { openReplicas, startReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { webSocket } from '../../support/streams/transports.js'

let chain: TestChain
let traffic: Traffic

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 26 })
})
afterAll(() => chain?.stop())

async function listAt({ get }: TestService, query = ''): Promise<OrderMessage[]> {
  const { status, body } = await get(`/v1/${chain.chainId}/orders?pageSize=200${query}`)
  expect(status).toBe(200)
  return body.orders
}

/** Waits until a replica has sent an event of this order. */
async function untilSent({ url }: TestService, orderId: string): Promise<void> {
  const stream = webSocket.open(url, { after: 'earliest', orderId: [orderId] })
  await stream.take(1)
  stream.leave()
}

describe('on PostgreSQL', () => {
  it('each replica lists the same orders, also after a reorganisation, and continues pages of the others', async () => {
    const { services } = await startReplicas(chain)
    const { fromBlock } = await traffic.run({ events: 60, blocks: 8 })
    for (const change of [async () => {}, () => traffic.reorganiseAtRandom({ depth: 4, events: 10 })]) {
      await change()
      const last = traffic.order()
      await traffic.mine([traffic.actions.deposit(last)])
      for (const service of services) await untilSent(service, last.orderId)
      const expected = (await expectedOrders(chain)).filter((order) => isSince(fromBlock, order))
      for (const service of services) expect(await listAt(service)).toEqual(expected)
    }
    const [first, second, third] = services
    const whole = await listAt(first, '&state=DEPOSITED')
    const page = await second.get(`/v1/${chain.chainId}/orders?pageSize=3&state=DEPOSITED`)
    const rest = await listAt(third, `&state=DEPOSITED&pageToken=${page.body.nextPageToken}`)
    expect([...page.body.orders, ...rest]).toEqual(whole)
  })

  it('a replica lists an order before it sends its event', async () => {
    const replicas = await openReplicas(chain)
    const services = [await replicas.start(), await replicas.start()]
    const streams = services.map(({ url }) => webSocket.open(url, { type: ['Deposited'] }))
    await Promise.all(streams.map((stream) => stream.connected()))
    for (let round = 1; round <= 5; round++) {
      const order = traffic.order()
      await traffic.mine([traffic.actions.deposit(order)])
      await Promise.all(
        streams.map(async (stream, index) => {
          await stream.take(round)
          const [newest] = await listAt(services[index] as TestService, '&state=DEPOSITED')
          expect(newest?.orderId).toBe(order.orderId)
        }),
      )
    }
  })

  it('each replica gives an order its steps, also one that had it in memory before the step', async () => {
    const { services } = await startReplicas(chain)
    const order = traffic.order()
    const stepsAt = async ({ get }: TestService) => {
      const { state, deposited, settled } = (await get(`/v1/${chain.chainId}/order/${order.orderId}`)).body
      return { state, deposited: deposited !== undefined, settled: settled !== undefined }
    }
    const all = () => Promise.all(services.map(stepsAt))
    await traffic.mine([traffic.actions.deposit(order)])
    const isDeposited = { state: 'DEPOSITED', deposited: true, settled: false }
    await eventually(all, (steps) => steps.every(({ deposited }) => deposited))
    expect(await all()).toEqual(services.map(() => isDeposited))
    await traffic.mine([traffic.actions.fill(order)])
    for (const { url } of services) {
      const stream = webSocket.open(url, { after: 'earliest', orderId: [order.orderId] })
      await stream.take(2)
      stream.leave()
    }
    const isSettled = { state: 'SETTLED', deposited: true, settled: true }
    expect(await all()).toEqual(services.map(() => isSettled))
  })
})

/** Whether an order's first event came after the service had started, from the head on. */
function isSince(block: number, { deposited, settled, refunded }: OrderMessage): boolean {
  return ((deposited ?? settled ?? refunded)?.blockNumber ?? 0) >= block
}
