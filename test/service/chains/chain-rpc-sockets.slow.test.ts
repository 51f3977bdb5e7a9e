import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startChain } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { type EventWatch, watchEvents } from '../../support/streams/watch-events.js'

/** A poll interval so long that no test waits for it. */
const NEVER_MS = 60_000

let rpc: RpcProxy
let other: RpcProxy
let service: TestService | undefined
let from: number

const chain = await shared(startChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: 32 })

beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  other = await startRpcProxy(chain.devnet.rpcUrl)
  from = (await traffic.head()).number + 1
})

afterEach(async () => {
  await service?.close()
  service = undefined
  rpc.close()
  other.close()
})

async function start(urls: readonly string[], pollIntervalMs = NEVER_MS) {
  service = await startService(chain, {
    [`RPC_URL_${chain.chainId}`]: urls.join(),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: String(pollIntervalMs),
  })
  const { get } = service
  return {
    ...service,
    events: await watchEvents(service),
    chainHealth: async () => (await get('/health')).body.chains[0],
  }
}

async function expectEvents(events: EventWatch, count = 6) {
  const before = events.events().length
  await traffic.run({ events: count, blocks: 3 })
  await events.untilCount(before + count)
  expect(standing(events.events())).toEqual(await expectedMessages(chain, from))
}
const untilSubscribed = (count = 1) =>
  eventually(
    async () => rpc.count('eth_subscribe'),
    (subscriptions) => subscriptions >= count,
  )

describe('a WebSocket of an RPC endpoint', () => {
  it('that the server drops is opened again, and no event is lost', async () => {
    const { events } = await start([rpc.wsUrl])
    await untilSubscribed()
    for (let round = 0; round < 3; round++) {
      await expectEvents(events)
      rpc.dropSockets()
      await traffic.run({ events: 2, blocks: 1 })
      await events.untilCount(round * 8 + 8)
      await untilSubscribed(round + 2)
    }
    await expectEvents(events)
  })

  it('that is open without notifications is replaced by polls', async () => {
    rpc.swallowHeads(true)
    const { events } = await start([rpc.wsUrl], 20)
    await untilSubscribed()
    await expectEvents(events)
    await expectEvents(events)
    rpc.swallowHeads(false)
    await expectEvents(events)
  })
})
