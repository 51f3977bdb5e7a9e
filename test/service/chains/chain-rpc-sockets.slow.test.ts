import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { type EventWatch, watchEvents } from '../../support/streams/watch-events.js'

/** A poll interval so long that no test waits for it. */
const NEVER_MS = 60_000

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let other: RpcProxy
let service: TestService | undefined
let from: number

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 32 })
})
afterAll(() => chain?.stop())
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

  it('is subscribed to once, however often orders are read between its heads', async () => {
    const { events, get, chainHealth } = await start([rpc.wsUrl])
    await untilSubscribed()
    for (let block = 0; block < 25; block++) {
      const orders = [traffic.order(), traffic.order()]
      const reading = get(`/v1/${chain.chainId}/order/${orders[0]?.orderId}`)
      await traffic.mine(orders.map(traffic.actions.deposit))
      await Promise.all([reading, get(`/v1/${chain.chainId}/order/${orders[1]?.orderId}`)])
    }
    const { number } = await traffic.head()
    await eventually(chainHealth, ({ headBlock }) => headBlock === number)
    await events.untilCount(50)
    expect(rpc.count('eth_subscribe') - rpc.count('eth_unsubscribe')).toBeLessThanOrEqual(1)
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

describe('a WebSocket whose handshake is not answered', () => {
  it('leaves the chain down until it is answered', async () => {
    const { events, chainHealth } = await start([rpc.wsUrl], 20)
    await untilSubscribed()
    rpc.setHanging(true)
    rpc.dropSockets()
    await eventually(chainHealth, ({ status }) => status === 'down')
    rpc.setHanging(false)
    await eventually(chainHealth, ({ status }) => status === 'ok')
    await expectEvents(events)
  })
})

describe('a WebSocket URL before an HTTP one', () => {
  it('leaves the chain to the HTTP one when it no longer answers calls', async () => {
    const { events } = await start([rpc.wsUrl, other.url], 20)
    await untilSubscribed()
    await expectEvents(events)
    rpc.setHanging(true)
    await expectEvents(events)
  })
})

it('a head that was pushed before the node died is polled again with pauses', async () => {
  const { chainHealth, metric } = await start([rpc.wsUrl], 1000)
  await traffic.mine()
  const { number } = await traffic.head()
  await eventually(chainHealth, ({ headBlock }) => headBlock >= number)
  const held = rpc.hold(({ method }) => method !== 'eth_subscribe')
  await traffic.mine()
  await held.reached
  // The next head is pushed during the poll, and then the node goes down.
  const pushed = await rpc.pushedHeads()
  await traffic.mine()
  await eventually(rpc.pushedHeads, (count) => count > pushed)
  rpc.setUp(false)
  held.release()
  await eventually(chainHealth, ({ status }) => status === 'down')
  const failed = () => metric('aggregator_rpc_errors_total', {})
  const before = await failed()
  const downAt = performance.now()
  await eventually(failed, (count) => count >= before + 3)
  expect(performance.now() - downAt).toBeGreaterThan(1000)
})
