import { describe, expect, it } from 'vitest'
import { expectedOrders, type OrderMessage } from '../../support/chain/chain-orders.js'
import type { Order } from '../../support/chain/order-actions.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import { expectedMessages, withoutCursors } from '../../support/streams/event-messages.js'
import { webSocket } from '../../support/streams/transports.js'

const on = useProxiedChain({ seed: 25 })
/** `orders(bytes32)` of the settlement contract. */
const ORDERS = '0x9c3f1e90'
const TERMS = [
  'inputToken',
  'inputAmount',
  'outputToken',
  'outputAmount',
  'outputChainId',
  'fillDeadline',
] as const

async function list(query = '?pageSize=200'): Promise<OrderMessage[]> {
  return (await on.service.get(`/v1/${on.chain.chainId}/orders${query}`)).body.orders
}

const find = async ({ orderId }: Order) => (await list()).find((order) => order.orderId === orderId)

/** Everything on the event stream up to a number of events. */
async function replay(count: number, filter: { solver?: string[] } = {}) {
  const stream = webSocket.open(on.service.url, { after: 'earliest', ...filter })
  const events = await stream.take(count)
  stream.leave()
  return withoutCursors(events)
}

describe('a node that rejects reads of orders', () => {
  it('has the events written. Address deposits have no terms until the node answers again', async () => {
    const path = { DB_PATH: temporaryFile() }
    await on.start(path)
    const [settled, late] = [on.traffic.order(), on.traffic.order((await on.traffic.head()).timestamp - 1)]
    const stream = webSocket.open(on.service.url)
    await stream.connected()
    on.rpc.revert(ORDERS)
    const { number } = await on.traffic.mine([on.traffic.actions.settle(settled)])
    await on.traffic.mine([on.traffic.actions.refundAddressDeposit(late)])
    expect(withoutCursors(await stream.take(2))).toEqual(await expectedMessages(on.chain, number))
    stream.leave()
    const [known, unknown] = [await find(settled), await find(late)]
    expect(known).toMatchObject({ state: 'SETTLED', user: settled.user, solver: settled.solver.address })
    expect(unknown).toMatchObject({ state: 'REFUNDED', user: late.user })
    for (const name of TERMS) expect([known?.[name], unknown?.[name]]).toEqual([undefined, undefined])
    expect(unknown?.solver).toBeUndefined()

    // Without a restart, the service looks for such orders every half minute.
    on.rpc.intercept()
    await on.service.close()
    await on.start(path)
    const expected = await expectedOrders(on.chain)
    await eventually(
      () => find(late),
      (order) => order?.inputToken !== undefined,
    )
    for (const order of [settled, late])
      expect(await find(order)).toEqual(expected.find(({ orderId }) => orderId === order.orderId))
    expect(await list(`?solver=${late.solver.address}&state=REFUNDED&pageSize=1`)).toMatchObject([
      { orderId: late.orderId },
    ])
  })

  it('does not keep the refund of a deposited order from its solver', async () => {
    await on.start()
    const time = (await on.traffic.head()).timestamp
    const order = on.traffic.order(time)
    const { number } = await on.traffic.mine([on.traffic.actions.deposit(order)], time)
    on.rpc.revert(ORDERS)
    await on.traffic.mine([on.traffic.actions.refund(order)])
    const expected = await expectedMessages(on.chain, number)
    expect(await replay(2, { solver: [order.solver.address] })).toEqual(expected)
    expect(await find(order)).toMatchObject({ state: 'REFUNDED', solver: order.solver.address })
  })
})
