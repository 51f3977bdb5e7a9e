import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { writeEventLog } from '../../support/databases/event-log-file.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startEventService } from '../../support/service/event-service.js'
import type { TestService } from '../../support/service/service.js'
import { transports, webSocket } from '../../support/streams/transports.js'

/** More than is kept in memory. */
const EVENTS = 20_000
const REPLAYS = 60

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

async function startWithLog() {
  const path = temporaryFile()
  const oldest = await writeEventLog(path, EVENTS)
  const service = await startEventService([chain], { DB_PATH: path, TRUST_PROXY: '1' })
  onTestFinished(() => service.close())
  return { service, oldest }
}

const forwardedFor = (address: string) => ({ headers: { 'x-forwarded-for': address } })

const untilNoneReplays = (service: TestService) =>
  eventually(
    () => service.metric('aggregator_stream_replays', {}),
    (replays) => replays === 0,
  )

it('replays without events all reach the live events, and another client gets its whole replay at the same time', async () => {
  const { service, oldest } = await startWithLog()
  const wanted = { after: oldest, chainId: [chain.chainId] }
  const crowd = Array.from({ length: REPLAYS }, () =>
    webSocket.open(service.url, wanted, forwardedFor('198.51.100.1')),
  )
  const other = webSocket.open(service.url, { after: oldest }, forwardedFor('198.51.100.2'))
  const events = await other.take(EVENTS)
  const places = events.map(({ cursor }) => Number.parseInt(cursor?.split('.')[1] ?? '', 36))
  expect(places).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1))

  const traffic = await createTraffic(chain, { seed: 7 })
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  for (const client of crowd) expect(await client.take(1)).toMatchObject([{ type: 'Deposited' }])
  await untilNoneReplays(service)
  for (const client of [...crowd, other]) client.leave()
})

it.each(transports)(
  'a client of $name that leaves frees its running or waiting replay',
  async (transport) => {
    const { service, oldest } = await startWithLog()
    const all = Array.from({ length: 12 }, (_, index) =>
      transport.open(service.url, { after: oldest, user: [`0x${String(index).padStart(40, '0')}`] }),
    )
    await Promise.all(all.map((client) => client.connected()))
    for (const client of all) client.leave()
    await untilNoneReplays(service)
  },
  60_000,
)
