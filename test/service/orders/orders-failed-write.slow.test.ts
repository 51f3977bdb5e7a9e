import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'

let chain: TestChain
let traffic: Traffic
beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 91 })
})
afterAll(() => chain?.stop())

const healthOf = async ({ get }: TestService) => (await get('/health')).body.chains[0]

async function untilRead(service: TestService): Promise<void> {
  const { number } = await traffic.head()
  await eventually(
    () => healthOf(service),
    ({ status, headBlock }) => status === 'ok' && headBlock >= number,
  )
}

it('replicas forget orders of unconfirmed blocks that a reorganisation removes while no write succeeds', async () => {
  const replicas = await openReplicas(chain)
  const settings = { [`CONFIRMATIONS_${chain.chainId}`]: '3' }
  const services = [await replicas.start(settings), await replicas.start(settings)] as const
  for (let block = 0; block < 4; block++) await traffic.mine()
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  const states = () =>
    Promise.all(
      services.map(async ({ get }) => (await get(`/v1/${chain.chainId}/order/${order.orderId}`)).body.state),
    )
  for (const service of services) await untilRead(service)
  expect(await states()).toEqual(['DEPOSITED', 'DEPOSITED'])

  const admin = new pg.Client({ connectionString: replicas.databaseUrl })
  await admin.connect()
  try {
    await admin.query('begin; lock table chain_headers in access exclusive mode')
    await traffic.mine()
    await eventually(
      () => healthOf(services[0]),
      ({ status }) => status === 'down',
    )
    await traffic.reorganise(2)
    await traffic.mine()
    await admin.query('rollback')
  } finally {
    await admin.end()
  }
  for (const service of services) await untilRead(service)
  await eventually(states, (found) => found.every((state) => state === 'NONE'))
})
