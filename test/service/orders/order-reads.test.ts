import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import { orderIdOf } from '../../support/faults/rpc-proxy.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const on = useProxiedChain({ seed: 19 })
/** Orders that the service reads at once. */
const MAX_READS = 50

/** Counts the reads of orders, and the most of them that are under way at once. */
function countReads() {
  const reads = { all: 0, underWay: 0, most: 0 }
  on.rpc.intercept(async (call, pass) => {
    if (orderIdOf(call) === undefined) return pass()
    reads.all++
    reads.most = Math.max(reads.most, ++reads.underWay)
    try {
      return await pass()
    } finally {
      reads.underWay--
    }
  })
  return reads
}

it('the refund of a listed order reaches streams of its solver, without a read of the order', async () => {
  const reads = countReads()
  await on.start()
  const { actions, mine, head } = on.traffic
  const order = actions.order({ ...on.traffic.order(), fillDeadline: (await head()).timestamp + 1 })
  const events = await watchEvents(on.service, `?solver=${order.solver.address}`)
  await mine([actions.deposit(order)])
  await events.untilCount(1)
  await mine()
  await mine([actions.refund(order)])
  await events.untilCount(2)
  expect(events.types()).toEqual([`Deposited ${order.orderId}`, `Refunded ${order.orderId}`])
  expect(reads.all).toBe(0)
  events.close()
})

it('the orders of a range of old blocks are read in parts', async () => {
  const { actions, mine, order } = on.traffic
  const ids = new Set<string>()
  for (let block = 0; block < 4; block++) {
    const orders = Array.from({ length: 15 }, order)
    for (const { orderId } of orders) ids.add(orderId)
    await mine(orders.map((one) => actions.settle(one)))
  }
  for (let block = 0; block < 6; block++) await mine()
  const reads = countReads()
  await on.start({ [`START_BLOCK_${on.chain.chainId}`]: '0', MAX_REORG_DEPTH: '2' })
  const listed = async () => (await on.service.get(`/v1/${on.chain.chainId}/orders?pageSize=200`)).body.orders
  const orders = await eventually(listed, ({ length }) => length >= ids.size)
  const settled = orders.filter(({ orderId }: { orderId: string }) => ids.has(orderId))
  expect(settled.every(({ inputToken }: { inputToken?: string }) => inputToken !== undefined)).toBe(true)
  expect(reads.all).toBeGreaterThan(MAX_READS)
  expect(reads.most).toBeLessThanOrEqual(MAX_READS)
})
