import { expect, it, onTestFinished } from 'vitest'
import { makeRestorablePostgres } from '../../support/databases/database-backup.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startFaultyChain } from '../../support/faults/faulty-chain.js'
import { webSocket } from '../../support/streams/transports.js'

const on = await startFaultyChain({ seed: 19 })

it('while PostgreSQL is away, orders are not listed, and a single one is answered', async () => {
  const { url } = await makeRestorablePostgres()
  const link = await startDatabaseLink(url)
  onTestFinished(() => link.close())
  await on.start({ DATABASE_URL: link.url })
  const order = on.traffic.order()
  await on.traffic.mine([on.traffic.actions.deposit(order)])
  const list = () => on.service.get(`/v1/${on.chain.chainId}/orders`)
  const read = () => on.service.get(`/v1/${on.chain.chainId}/order/${order.orderId}`)
  const before = await eventually(list, ({ body }) => body.orders?.length === 1)
  link.cut()
  const away = await eventually(list, ({ status }) => status !== 200)
  expect([away.status, away.body.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  expect(await read()).toMatchObject({ status: 200, body: { state: 'DEPOSITED', orderId: order.orderId } })
  link.restore()
  const back = await eventually(list, ({ status }) => status === 200)
  expect(back.body).toEqual(before.body)
  const [listed] = before.body.orders
  expect((await eventually(read, ({ body }) => body.deposited !== undefined)).body).toEqual(listed)
})

it('an order that was read before its event was published has the step when a stream has the event', async () => {
  await on.start({ [`CONFIRMATIONS_${on.chain.chainId}`]: '1' })
  const events = webSocket.open(on.service.url)
  await events.connected()
  const order = on.traffic.order()
  const read = async () => (await on.service.get(`/v1/${on.chain.chainId}/order/${order.orderId}`)).body
  await on.traffic.mine([on.traffic.actions.deposit(order)])
  const unpublished = await eventually(read, ({ state }) => state === 'DEPOSITED')
  expect(unpublished).not.toHaveProperty('deposited')
  const { number } = await on.traffic.mine([])
  await events.take(1)
  expect(await read()).toMatchObject({ state: 'DEPOSITED', deposited: { blockNumber: number - 1 } })
  events.leave()
})
