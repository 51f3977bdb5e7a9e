import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import type { OrderMessage } from '../support/chain/chain-orders.js'
import { listOrders } from '../support/clients/list-orders.js'
import { makeLogOlder } from '../support/databases/older-log.js'
import { databases } from '../support/databases/service-databases.js'
import { eventually } from '../support/eventually.js'
import { useProxiedChain } from '../support/faults/proxied-chain.js'

const on = useProxiedChain({ seed: 17 })
const listed = () => listOrders(on.chain.chainId, { pageSize: 200 }, () => on.service)
const read = async (orderId: string) =>
  (await on.service.get(`/v1/${on.chain.chainId}/order/${orderId}`)).body
const transactionOf = ({ deposited }: OrderMessage) =>
  (deposited as { transactionHash?: string } | undefined)?.transactionHash

/** Two deposits in blocks of their own, in the log of an older version. */
async function makeOlderLog(wanted: 'SQLite' | 'PostgreSQL') {
  const [, make] = databases.find(([kind]) => kind === wanted) as (typeof databases)[number]
  const { environment, drop } = await make()
  onTestFinished(drop)
  await on.start(environment)
  const blocks: { orderId: string; hash: string }[] = []
  for (const _ of [1, 2]) {
    const order = on.traffic.order()
    const { hash } = await on.traffic.mine([on.traffic.actions.deposit(order)])
    await eventually(listed, (orders) => orders.some(({ orderId }) => orderId === order.orderId))
    blocks.push({ orderId: order.orderId, hash })
  }
  const orders = await listed()
  await on.service.close()
  await makeLogOlder(environment)
  const [older, newer] = blocks as [(typeof blocks)[0], (typeof blocks)[0]]
  return { environment, orders, older, newer }
}

it('an order in memory gets its step when an older log is added, and its transaction', async () => {
  const { environment, older, orders } = await makeOlderLog('PostgreSQL')
  const refuse = async () => ({ error: { code: -32_000, message: 'history has been pruned' } })
  on.rpc.intercept(({ method, params }, pass) =>
    method === 'eth_getLogs' && JSON.stringify(params).includes('"blockHash"') ? refuse() : pass(),
  )
  const admin = new pg.Client({ connectionString: `${environment.DATABASE_URL}` })
  await admin.connect()
  try {
    await admin.query('begin; select * from event_log for update')
    await on.start(environment)
    for (const _ of [1, 2]) expect(await read(older.orderId)).not.toHaveProperty('deposited')
  } finally {
    await admin.end()
  }
  const found = await eventually(
    () => read(older.orderId),
    ({ deposited }) => deposited !== undefined,
  )
  expect(transactionOf(found)).toBeUndefined()
  on.rpc.intercept()
  const completed = await eventually(
    () => read(older.orderId),
    (order) => transactionOf(order) !== undefined,
  )
  expect(completed).toEqual(orders.find(({ orderId }) => orderId === older.orderId))
})

it.each([
  ['logs of another block', 'eth_getLogs', [{ blockHash: `0x${'1'.repeat(64)}` }]],
  ['logs that are none', 'eth_getLogs', [{ topics: 'none' }]],
  ['a header without time', 'eth_getBlockByHash', { timestamp: undefined }],
])('%s: the other blocks are completed', async (_, lyingMethod, change) => {
  const { environment, older, newer, orders } = await makeOlderLog('SQLite')
  let isLying = true
  on.rpc.intercept(async ({ method, params }, pass) => {
    const reply = await pass()
    const isAsked = method === lyingMethod && JSON.stringify(params).includes(newer.hash)
    if (!isLying || !isAsked) return reply
    const { result } = reply as { result: object | object[] }
    const [changed] = [change].flat()
    return {
      result: Array.isArray(result)
        ? result.map((log) => ({ ...log, ...changed }))
        : { ...result, ...changed },
    }
  })
  await on.start(environment)
  const transactions = async () => {
    const list = await listed()
    const of = (id: string) => list.filter(({ orderId }) => orderId === id).map(transactionOf)[0]
    return { older: of(older.orderId), newer: of(newer.orderId) }
  }
  const found = await eventually(transactions, (all) => all.older !== undefined)
  expect(found.newer).toBeUndefined()
  isLying = false
  await eventually(transactions, (all) => all.newer !== undefined)
  expect(await listed()).toEqual(orders)
})
