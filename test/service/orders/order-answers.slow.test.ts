import { expect, it } from 'vitest'
import type { OrderMessage } from '../../support/chain/chain-orders.js'
import { expectedOrders } from '../../support/chain/chain-orders.js'
import { listOrders } from '../../support/clients/list-orders.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import { orderIdOf } from '../../support/faults/rpc-proxy.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const on = useProxiedChain({ seed: 18 })
const listed = () => listOrders(on.chain.chainId, { pageSize: 200 }, () => on.service)

/** Mines an address deposit that is settled, so that its log has no terms. */
async function settle(): Promise<string> {
  const order = on.traffic.order()
  await on.traffic.mine([on.traffic.actions.settle(order)])
  return order.orderId
}

async function orderOf(id: string): Promise<OrderMessage | undefined> {
  return (await listed()).find(({ orderId }) => orderId === id)
}

/** The order as the chain has it. */
async function expectedOrder(id: string): Promise<OrderMessage | undefined> {
  const { number } = await on.traffic.head()
  return (await expectedOrders(on.chain, number)).find(({ orderId }) => orderId === id)
}

async function expectCompleted(orderId: string): Promise<void> {
  const order = await eventually(
    () => orderOf(orderId),
    (found) => found?.inputToken !== undefined,
  )
  expect(order).toEqual(await expectedOrder(orderId))
}

it('an event is published although the node never answers for its order', async () => {
  await on.start()
  const events = await watchEvents(on.service)
  const silence = deferred()
  on.rpc.intercept(async (call, pass) => {
    if (orderIdOf(call) !== undefined) await silence.opened
    return pass()
  })
  const orderId = await settle()
  await eventually(
    async () => events.types(),
    ({ length }) => length > 0,
  )
  expect(await orderOf(orderId)).toMatchObject({ state: 'SETTLED' })
  on.rpc.intercept()
  silence.open()
  await expectCompleted(orderId)
  events.close()
})

const OTHER_ADDRESS = 'ab'.repeat(20).padStart(64, '0')

/** What the node answers wrongly for an order: a name, the position of a word, and that word. */
const WRONG = [
  ['another user', 0, OTHER_ADDRESS],
  ['another solver', 1, OTHER_ADDRESS],
  ['an output chain that is no chain id', 6, 'f'.repeat(64)],
  ['an unknown state', 8, '9'.padStart(64, '0')],
  ['no order', 8, '0'.repeat(64)],
] as const

it('an answer with a wrong word does not become the terms of an order', async () => {
  await on.start()
  const events = await watchEvents(on.service)
  const wrong = WRONG.map(([name, position, word]) => ({ name, position, word, order: on.traffic.order() }))
  on.rpc.intercept(async (call, pass) => {
    const reply = await pass()
    const asked = wrong.find(({ order }) => order.orderId === orderIdOf(call))
    if (asked === undefined) return reply
    const words: string[] = `${(reply as { result: string }).result}`.slice(2).match(/.{64}/g) ?? []
    return { result: `0x${words.with(asked.position, asked.word).join('')}` }
  })
  await on.traffic.mine(wrong.map(({ order }) => on.traffic.actions.settle(order)))
  await events.untilCount(WRONG.length)
  for (const { name, order } of wrong) {
    const { user, solver, settled } = (await expectedOrder(order.orderId)) as OrderMessage
    const bare = await orderOf(order.orderId)
    expect(bare, name).not.toHaveProperty('inputToken')
    expect(bare, name).toMatchObject({ user, solver, settled })
  }
  on.rpc.intercept()
  for (const { order } of wrong) await expectCompleted(order.orderId)
  events.close()
})

it.each(['0x0', '0x19a00000000', '0x1'])(
  'a time %s in the logs of a range is not used',
  async (blockTimestamp) => {
    const orderId = await settle()
    for (let block = 0; block < 6; block++) await on.traffic.mine()
    on.rpc.intercept(async ({ method }, pass) => {
      const reply = await pass()
      if (method !== 'eth_getLogs') return reply
      return { result: (reply as { result: object[] }).result.map((log) => ({ ...log, blockTimestamp })) }
    })
    await on.start({ [`START_BLOCK_${on.chain.chainId}`]: '0', MAX_REORG_DEPTH: '2' })
    const order = await eventually(
      () => orderOf(orderId),
      (found) => found !== undefined,
    )
    expect(order).toEqual(await expectedOrder(orderId))
  },
)
