import { expect, it, onTestFinished } from 'vitest'
import { makeRestorablePostgres } from '../../support/databases/database-backup.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startFaultyChain } from '../../support/faults/faulty-chain.js'

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
