import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { expectedOrders, type OrderMessage, stepOf } from '../../support/chain/chain-orders.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { startPostgres } from '../../support/databases/postgres.js'
import { makeDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startService, type TestService } from '../../support/service/service.js'
import { expectedMessages } from '../../support/streams/event-messages.js'
import { type EventWatch, watchEvents } from '../../support/streams/watch-events.js'

/** Much less than a statement may take before it counts as failed. */

let chain: TestChain
let traffic: Traffic
let service: TestService
let events: EventWatch

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 23 })
})
afterAll(() => chain?.stop())
afterEach(async () => {
  events?.close()
  await service?.close()
})

async function start(environment: Record<string, string> = {}): Promise<void> {
  service = await startService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50', ...environment })
  events = await watchEvents(service)
}

async function read(orderId: string): Promise<Partial<OrderMessage>> {
  const { status, body } = await service.get(`/v1/${chain.chainId}/order/${orderId}`)
  expect(status).toBe(200)
  return body
}

/** The state and the steps of an order. */
async function stepsOf(orderId: string) {
  const { state, deposited, settled, refunded } = await read(orderId)
  return { state, deposited, settled, refunded }
}

/** The same by the chain's own logs. */
async function stepsOnChain(orderId: string) {
  const own = (await expectedMessages(chain)).filter((event) => event.orderId === orderId)
  const stepOfType = (type: string) => {
    const event = own.find((one) => one.type === type)
    return event && stepOf(event)
  }
  return {
    deposited: stepOfType('Deposited'),
    settled: stepOfType('Settled'),
    refunded: stepOfType('Refunded'),
  }
}

describe('an order has the steps that it has taken', () => {
  it('when it is deposited and then settled', async () => {
    await start()
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    const { deposited } = await stepsOnChain(order.orderId)
    expect(await stepsOf(order.orderId)).toEqual({ state: 'DEPOSITED', deposited })
    await traffic.mine([traffic.actions.fill(order)])
    await events.untilCount(2)
    expect(await stepsOf(order.orderId)).toEqual({
      state: 'SETTLED',
      ...(await stepsOnChain(order.orderId)),
    })
  })

  it('when its tokens were at a deposit address: only the last one', async () => {
    await start()
    const [settled, late] = [traffic.order(), traffic.order((await traffic.head()).timestamp - 1)]
    await traffic.mine([traffic.actions.settle(settled)])
    await traffic.mine([traffic.actions.refundAddressDeposit(late)])
    await events.untilCount(2)
    expect(await stepsOf(settled.orderId)).toEqual({
      state: 'SETTLED',
      settled: (await stepsOnChain(settled.orderId)).settled,
    })
    expect(await stepsOf(late.orderId)).toEqual({
      state: 'REFUNDED',
      refunded: (await stepsOnChain(late.orderId)).refunded,
    })
  })

  it('once the block of a step has its confirmations', async () => {
    await start({ [`CONFIRMATIONS_${chain.chainId}`]: '2' })
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await eventually(
      () => stepsOf(order.orderId),
      ({ state }) => state === 'DEPOSITED',
    )
    expect(await stepsOf(order.orderId)).toEqual({ state: 'DEPOSITED' })
    for (let block = 0; block < 2; block++) await traffic.mine()
    await events.untilCount(1)
    const { deposited } = await stepsOnChain(order.orderId)
    expect(await stepsOf(order.orderId)).toEqual({ state: 'DEPOSITED', deposited })
  })
})

describe('a reorganisation', () => {
  it('moves a step to its new block, and removes the others', async () => {
    await start()
    const order = traffic.order()
    const [deposit, fill] = [traffic.actions.deposit(order), traffic.actions.fill(order)]
    await traffic.mine()
    await traffic.mine([deposit])
    await traffic.mine([fill])
    await events.untilCount(2)
    const before = await stepsOf(order.orderId)
    expect(before).toEqual({ state: 'SETTLED', ...(await stepsOnChain(order.orderId)) })

    await traffic.reorganise(3, [[deposit]])
    await events.untilCount(5)
    const after = await stepsOf(order.orderId)
    expect(after).toEqual({ state: 'DEPOSITED', deposited: (await stepsOnChain(order.orderId)).deposited })
    expect(after.deposited?.blockNumber).toBe((before.deposited?.blockNumber ?? 0) - 1)

    await traffic.reorganise(3)
    await events.untilCount(6)
    expect(await read(order.orderId)).toEqual({
      orderId: order.orderId,
      chainId: chain.chainId,
      state: 'NONE',
    })
    const { body } = await service.get(`/v1/${chain.chainId}/orders?user=${order.user}&pageSize=200`)
    expect(body.orders.map(({ orderId }: OrderMessage) => orderId)).not.toContain(order.orderId)
  })
})

describe('an address deposit that a reorganisation moves to another block', () => {
  it('is listed with what the contract has of it', async () => {
    await start()
    const [settled, late] = [traffic.order(), traffic.order((await traffic.head()).timestamp - 1)]
    const again = [traffic.actions.settle(settled), traffic.actions.refundAddressDeposit(late)]
    await traffic.mine(again)
    await events.untilCount(2)
    await traffic.reorganise(1, [again])
    await events.untilCount(6)
    const { body } = await service.get(`/v1/${chain.chainId}/orders?pageSize=2`)
    expect(body.orders).toEqual((await expectedOrders(chain)).slice(0, 2))
  })

  it('is listed so also when it was a deposit at the contract before', async () => {
    await start()
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    await traffic.reorganise(1, [[traffic.actions.settle(order)]])
    await events.untilCount(3)
    const { body } = await service.get(`/v1/${chain.chainId}/orders?pageSize=1`)
    expect(body.orders).toEqual((await expectedOrders(chain)).slice(0, 1))
  })
})

describe('while the database does not answer, an order comes without its steps', () => {
  it('when PostgreSQL has stopped', async () => {
    const database = await startPostgres()
    onTestFinished(() => database.stop())
    await start({ DATABASE_URL: database.url })
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    await database.kill()
    expect(await stepsOf(order.orderId)).toEqual({ state: 'DEPOSITED' })
    const list = await service.get(`/v1/${chain.chainId}/orders`)
    expect([list.status, list.body.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  })

  it('when PostgreSQL holds its answers, and with them again afterwards', async () => {
    const { url, drop } = await makeDatabase()
    const link = await startDatabaseLink(url)
    onTestFinished(async () => {
      link.close()
      await drop()
    })
    await start({ DATABASE_URL: link.url })
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    const held = link.hold('answers', 'from "orders"')
    expect(await stepsOf(order.orderId)).toEqual({ state: 'DEPOSITED' })
    held.release()
    const { deposited } = await stepsOnChain(order.orderId)
    await eventually(
      () => stepsOf(order.orderId),
      (steps) => steps.deposited !== undefined,
    )
    expect(await stepsOf(order.orderId)).toEqual({ state: 'DEPOSITED', deposited })
  })
})
