import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { type ChattySettlement, deployChattySettlement } from '../../support/chain/chatty-settlement.js'
import { startService, type TestService } from '../../support/service/service.js'
import { eventSource, grpc, webSocket } from '../../support/streams/transports.js'

const EVENTS_PER_BLOCK = 400

/** How a client that stops is closed, as it sees it when it reads again. */
const KINDS = [
  { transport: webSocket, end: { status: 1013 } },
  { transport: eventSource, end: { status: 200 } },
  { transport: grpc, end: { status: 'RESOURCE_EXHAUSTED', reason: 'SUBSCRIBER_TOO_SLOW' } },
]

let chain: TestChain
let chatty: ChattySettlement
let service: TestService
let seed = 0

beforeAll(async () => {
  const quiet = await startChain({ bonded: 0 })
  chatty = await deployChattySettlement(quiet.devnet, quiet.contracts.bondToken)
  chain = { ...quiet, contracts: { ...quiet.contracts, settlement: chatty.address } }
  service = await startService(chain)
})
afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

it.each(KINDS)(
  'a subscriber over $transport.name that does not read is closed, and keeps its cursor',
  async (kind) => {
    const open = (after?: string) => kind.transport.open(service.url, after === undefined ? {} : { after })
    const [reader, stopped] = [open(), open()]
    await Promise.all([reader.connected(), stopped.connected()])
    stopped.pause()
    const dropped = () => service.metric('aggregator_stream_drops_total', {})
    const before = await dropped()
    let count = 0
    while ((await dropped()) === before) {
      await chatty.emitEvents({ events: EVENTS_PER_BLOCK, eventsPerBlock: EVENTS_PER_BLOCK, seed: ++seed })
      count += EVENTS_PER_BLOCK
      await reader.take(count)
    }

    stopped.resume()
    expect(await stopped.ended()).toMatchObject(kind.end)
    const back = open(stopped.cursor())
    const last = reader.cursor()
    await back.until(({ cursor }) => cursor === last)
    expect(back.events().length).toBeGreaterThan(0)
    expect([...stopped.events(), ...back.events()]).toEqual(reader.events())
    for (const client of [reader, back]) client.leave()
  },
)
