import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from './chain.js'
import { expectedMessages, standing } from './event-messages.js'
import { createTraffic, type Traffic } from './event-traffic.js'
import { eventually } from './eventually.js'
import { bloomOf, lie } from './lying-node.js'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.js'
import { startService, type TestService } from './service.js'
import { type EventWatch, watchEvents } from './watch-events.js'

const OTHER_ADDRESS = `0x${'77'.repeat(20)}`

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let other: RpcProxy
let service: TestService
let events: EventWatch
let from: number

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 33 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  other = await startRpcProxy(chain.devnet.rpcUrl)
  from = (await traffic.head()).number + 1
})
afterEach(async () => {
  events?.close()
  await service?.close()
  rpc.close()
  other.close()
})

async function start(urls: readonly string[] = [rpc.url]) {
  service = await startService(chain, {
    [`RPC_URL_${chain.chainId}`]: urls.join(),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
  })
  events = await watchEvents(service)
}

/** Mines blocks with and without events, and makes sure that each event comes once, in order. */
async function expectEvents(rounds = 3) {
  for (let round = 0; round < rounds; round++) {
    await traffic.mine([0, 1, 2, 3].map(() => traffic.actions.deposit(traffic.order())))
    await traffic.mine()
    await traffic.run({ events: 4, blocks: 2 })
    const expected = await expectedMessages(chain, from)
    await events.untilCount(expected.length)
    expect(standing(events.events())).toEqual(expected)
  }
  const { number } = await traffic.head()
  await expect.poll(() => service.metric('aggregator_chain_event_block', {})).toBe(number)
}
const failedLooks = () => service.metric('aggregator_rpc_errors_total', {})

describe('logs of a block that a node leaves out', () => {
  it('at first are asked for again', async () => {
    lie(rpc, { logs: (logs, times) => (times === 0 ? [] : logs), receipts: false })
    await start()
    await expectEvents()
  })

  it('always are asked for at another endpoint', async () => {
    lie(rpc, { logs: () => [], receipts: false })
    lie(other, { receipts: false })
    await start([rpc.url, other.url])
    await expectEvents()
  })

  it('always are read from the receipts', async () => {
    lie(rpc, { logs: () => [] })
    await start()
    await expectEvents()
  })

  it('in part are read from the receipts', async () => {
    lie(rpc, { logs: (logs) => logs.slice(0, Math.ceil(logs.length / 2)) })
    await start()
    await expectEvents()
  })

  it('in part are asked for again when all of one kind are missing', async () => {
    lie(rpc, {
      logs: (logs, times) => (times === 0 ? logs.filter((log) => log.topics.length < 4) : logs),
      receipts: false,
    })
    await start()
    await expectEvents()
  })

  it('together with the receipts are asked for again', async () => {
    let answers = 0
    lie(rpc, {
      logs: (logs, times) => (times < 2 ? [] : logs),
      receipts: (receipts) => (answers++ % 3 === 0 ? receipts : []),
    })
    await start()
    await expectEvents()
  })
})

describe('a node', () => {
  it('whose bloom filters are full of false positives is followed, and never counts as down', async () => {
    lie(rpc, { header: (header) => ({ ...header, logsBloom: bloomOf('ff') }), receipts: false })
    await start()
    await expectEvents(1)
    expect(await failedLooks()).toBe(0)
  })

  it.each([
    ['all zero', { logsBloom: bloomOf('00') }],
    ['missing', { logsBloom: undefined }],
    ['null', { logsBloom: null }],
  ])('whose bloom filters are %s is followed', async (_what, change) => {
    lie(rpc, { header: (header) => ({ ...header, ...change }) })
    await start()
    await expectEvents()
    expect(await failedLooks()).toBe(0)
  })

  it('without receipts is not asked for them again and again', async () => {
    lie(rpc, { receipts: false })
    await start()
    await expectEvents(1)
    const before = rpc.count('eth_getBlockReceipts')
    await expectEvents(2)
    expect(rpc.count('eth_getBlockReceipts')).toBe(before)
    expect(await failedLooks()).toBe(0)
  })

  it('that fails at receipts is followed without them', async () => {
    rpc.intercept(async ({ method }, pass) =>
      method === 'eth_getBlockReceipts' ? { error: { code: -32000, message: 'no such plan' } } : pass(),
    )
    await start()
    await expectEvents()
  })

  it('that proves its blocks is asked for receipts of those with events alone', async () => {
    await start()
    await expectEvents()
    const asked = rpc
      .requests()
      .flat()
      .filter(({ method }) => method === 'eth_getBlockReceipts')
    const blocks = new Set((await expectedMessages(chain, from)).map(({ blockNumber }) => blockNumber))
    expect(asked.length).toBe(blocks.size)
  })
})

describe('an answer with logs', () => {
  it.each([
    ['that were removed', { removed: true }],
    ['of another contract', { address: OTHER_ADDRESS }],
  ])('%s is not believed', async (_what, change) => {
    lie(rpc, {
      logs: (logs, times) =>
        times === 0 ? logs.flatMap((log) => [log, { ...log, logIndex: '0x7000', ...change }]) : logs,
      receipts: false,
    })
    await start()
    await expectEvents()
    expect(await failedLooks()).toBeGreaterThan(0)
  })

  it('that are there twice has each of them once', async () => {
    lie(rpc, { logs: (logs) => [...logs, ...logs], receipts: false })
    await start()
    await expectEvents()
    expect(await failedLooks()).toBe(0)
  })
})

it('a block that is asked for by hash, and comes as another one, fails that look', async () => {
  await start()
  await traffic.run({ events: 4, blocks: 4 })
  await events.untilCount(4)
  let parent: unknown
  lie(rpc, {
    headerByHash(header) {
      parent ??= header
      return parent
    },
  })
  await traffic.reorganise(3, [[], [], [traffic.actions.deposit(traffic.order())]])
  await eventually(failedLooks, (count) => count > 1)
  rpc.intercept()
  const expected = await expectedMessages(chain, from)
  await eventually(
    async () => standing(events.events()).length,
    (count) => count === expected.length,
  )
  expect(standing(events.events())).toEqual(expected)
})
