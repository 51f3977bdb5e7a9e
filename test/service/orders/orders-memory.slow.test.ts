import { describe, expect, it } from 'vitest'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { eventually } from '../../support/eventually.js'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import { isEvent } from '../../support/streams/event-messages.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const BLOCKS = 25
const EVENTS_PER_BLOCK = 6

const on = useProxiedChain({ seed: 11 })
const read = (orderId: string) => on.service.get(`/v1/${on.chain.chainId}/order/${orderId}`)
const stateOf = async (orderId: string) => (await read(orderId)).body.state

/** Mines deposits of orders in one block, and waits until the service has read it. */
async function deposited(count: number) {
  const orders = Array.from({ length: count }, () => on.traffic.order())
  const { number } = await on.traffic.mine(orders.map(on.traffic.actions.deposit))
  await untilSeen(number)
  return orders
}

const untilSeen = (block: number) =>
  eventually(
    async () => (await on.service.get('/health')).body.chains[0].headBlock,
    (headBlock) => headBlock >= block,
  )

describe('the state of an order', () => {
  it('is read from the chain once, and then from memory until an event of the order', async () => {
    await on.start()
    const [order] = await deposited(1)
    on.rpc.forgetCalls()
    const first = await read(order?.orderId ?? '')
    expect(first.body.state).toBe('DEPOSITED')
    for (let again = 0; again < 20; again++)
      expect((await read(order?.orderId ?? '')).body).toEqual(first.body)
    await untilSeen((await on.traffic.mine()).number)
    expect((await read(order?.orderId ?? '')).body).toEqual(first.body)
    expect(on.rpc.orderReads()).toEqual([[order?.orderId]])
  })

  it('is remembered too when the contract does not know the order', async () => {
    await on.start()
    const { orderId } = on.traffic.order()
    for (let again = 0; again < 5; again++) expect(await stateOf(orderId)).toBe('NONE')
    expect(on.rpc.orderReads()).toEqual([[orderId]])
    await on.traffic.mine([on.traffic.actions.deposit(on.traffic.order())])
    expect(await stateOf(orderId)).toBe('NONE')
    expect(on.rpc.orderReads()).toEqual([[orderId]])
  })

  it('is read once for fifty concurrent requests over REST and gRPC', async () => {
    await on.start()
    const [order] = await deposited(1)
    const orderId = order?.orderId ?? ''
    const grpc = createGrpcClient(on.service.url)
    const request = { chainId: on.chain.chainId, orderId }
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => [
        stateOf(orderId),
        grpc.call('OrderService', 'GetOrder', request).then(({ state }) => state),
      ]).flat(),
    )
    grpc.close()
    expect(new Set(answers)).toEqual(new Set(['DEPOSITED', 'ORDER_STATE_DEPOSITED']))
    expect(on.rpc.orderReads()).toEqual([[orderId]])
  })

  it('is read together with others that are requested at the same time', async () => {
    await on.start()
    const orders = await deposited(20)
    const answers = await Promise.all(orders.map(({ orderId }) => read(orderId)))
    expect(answers.map(({ body }) => body.orderId)).toEqual(orders.map(({ orderId }) => orderId))
    const reads = on.rpc.orderReads()
    expect(reads.flat().sort()).toEqual(orders.map(({ orderId }) => orderId).sort())
    expect(reads.length).toBeLessThan(orders.length)
  })
})

describe('an event', () => {
  it('lets its order be read again, and no other', async () => {
    await on.start()
    const events = await watchEvents(on.service)
    const { timestamp } = await on.traffic.head()
    const [filled, refunded, other] = [
      on.traffic.order(),
      on.traffic.order(timestamp),
      on.traffic.order(),
    ] as const
    const all = [filled, refunded, other]
    const states = () => Promise.all(all.map(({ orderId }) => stateOf(orderId)))
    expect(await states()).toEqual(['NONE', 'NONE', 'NONE'])

    await on.traffic.mine(all.map(on.traffic.actions.deposit))
    await events.untilCount(3)
    expect(await states()).toEqual(['DEPOSITED', 'DEPOSITED', 'DEPOSITED'])
    expect(on.rpc.orderReads().flat()).toHaveLength(6)

    on.rpc.forgetCalls()
    await on.traffic.mine([on.traffic.actions.fill(filled)])
    await events.untilCount(4)
    expect(await states()).toEqual(['SETTLED', 'DEPOSITED', 'DEPOSITED'])
    expect(on.rpc.orderReads()).toEqual([[filled.orderId]])

    await on.traffic.mine([on.traffic.actions.refund(refunded)])
    await events.untilCount(5)
    on.rpc.forgetCalls()
    expect(await states()).toEqual(['SETTLED', 'REFUNDED', 'DEPOSITED'])
    expect(on.rpc.orderReads()).toEqual([[refunded.orderId]])
    events.close()
  })

  it('that a subscriber got shows in the order at once, for any number of orders', async () => {
    await on.start()
    const events = await watchEvents(on.service)
    const LATENESS: Record<string, number> = { NONE: 0, DEPOSITED: 1, SETTLED: 2, REFUNDED: 2 }
    const readings: Promise<{ event: string; read: string }>[] = []
    const last = new Map<string, string>()
    events.onMessage((message) => {
      if (!isEvent(message)) return
      const event = message.type.toUpperCase()
      last.set(message.orderId, event)
      readings.push(stateOf(message.orderId).then((state) => ({ event, read: state })))
    })
    for (let block = 0; block < BLOCKS; block++) {
      await on.traffic.run({ events: EVENTS_PER_BLOCK, blocks: 1 })
      // The orders that will have events are in memory by then.
      await Promise.all(on.traffic.openOrders().map(({ orderId }) => stateOf(orderId)))
    }
    await events.untilCount(BLOCKS * EVENTS_PER_BLOCK)
    const answers = await Promise.all(readings)
    expect(answers.filter(({ event, read }) => (LATENESS[read] ?? 0) < (LATENESS[event] ?? 0))).toEqual([])
    for (const [orderId, state] of last) expect(await stateOf(orderId)).toBe(state)
    events.close()
  })
})
