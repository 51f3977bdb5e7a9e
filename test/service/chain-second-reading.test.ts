import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFile } from '../store/temporary-file.js'
import { startChain, type TestChain } from './chain.js'
import { type EventMessage, expectedMessages, standing } from './event-messages.js'
import { createTraffic, type Traffic } from './event-traffic.js'
import { bloomOf, type Lies, lie } from './lying-node.js'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.js'
import { startService, type TestService } from './service.js'
import { type EventWatch, watchEvents } from './watch-events.js'

const DEPTH = 3
const WARNING = 'the node had left out events of a block: announced now'

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let service: TestService
let events: EventWatch
let from: number
let lines: { msg: string; level: number; block?: number; events?: number }[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 34 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  from = (await traffic.head()).number + 1
  lines = []
})
afterEach(async () => {
  events?.close()
  await service?.close()
  rpc.close()
})

async function start(environment: Record<string, string> = {}) {
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) })
  const settings = {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    [`RECHECK_BLOCKS_${chain.chainId}`]: String(DEPTH),
    ...environment,
  }
  service = await startService(chain, settings, { log })
  events = await watchEvents(service)
}

const mineDeposits = (count: number) =>
  traffic.mine(Array.from({ length: count }, () => traffic.actions.deposit(traffic.order())))
const untilRead = async () => {
  const { number } = await traffic.head()
  await expect.poll(() => service.metric('aggregator_chain_event_block', {})).toBe(number)
}
async function mineEmpty(blocks: number) {
  for (let block = 0; block < blocks; block++) {
    await traffic.mine()
    await untilRead()
  }
}
const byOrder = (a: EventMessage, b: EventMessage) => a.orderId.localeCompare(b.orderId)
const warnings = () => lines.filter(({ msg }) => msg === WARNING)
/** Without bloom filters and receipts, nothing can be proven of a block. */
const NOTHING_PROVEN: Lies = {
  header: (header) => ({ ...header, logsBloom: bloomOf('00') }),
  receipts: false,
}

describe('events that a node leaves out at first, where nothing proves that they are missing,', () => {
  it.each([
    ['all of a block', { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? [] : logs) }],
    ['half of a block', { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) }],
    [
      'half of a block with a bloom filter',
      { receipts: false, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) },
    ],
  ] satisfies [string, Lies][])('%s, are announced when the block is deeper', async (_what, lies) => {
    await start()
    lie(rpc, lies)
    const { number } = await mineDeposits(2)
    await untilRead()
    const before = events.events().length
    await mineEmpty(DEPTH - 1)
    expect(events.events()).toHaveLength(before)
    await mineEmpty(1)
    await events.untilCount(2)
    await mineEmpty(DEPTH)
    const told = standing(events.events()).sort(byOrder)
    expect(told).toEqual((await expectedMessages(chain, from)).sort(byOrder))
    expect(warnings()).toEqual([expect.objectContaining({ level: 40, block: number, events: 2 - before })])
  })

  it('come after those of later blocks, and a reorganisation removes them as well', async () => {
    await start()
    lie(rpc, { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) })
    const { number } = await mineDeposits(1)
    await untilRead()
    rpc.intercept()
    for (let block = 0; block < DEPTH; block++) {
      await mineDeposits(1)
      await untilRead()
    }
    await events.untilCount(DEPTH + 1)
    const blocks = standing(events.events()).map((event) => event.blockNumber)
    expect(blocks).toEqual([number + 1, number + 2, number + 3, number])
    await traffic.reorganise(DEPTH + 1, [[traffic.actions.deposit(traffic.order())]])
    await events.untilCount(2 * (DEPTH + 1) + 1)
    expect(standing(events.events())).toEqual(await expectedMessages(chain, from))
  })

  it('are announced once, and after a restart too', async () => {
    const kept = { DB_PATH: temporaryFile() }
    await start(kept)
    lie(rpc, { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) })
    const { number } = await mineDeposits(3)
    await untilRead()
    const cursor = events.cursor()
    expect(events.events()).toHaveLength(2)
    events.close()
    await service.close()
    await start(kept)
    events.close()
    events = await watchEvents(service, `?after=${encodeURIComponent(cursor)}`)
    await mineEmpty(DEPTH)
    await events.untilCount(1)
    await mineEmpty(DEPTH)
    expect(events.events()).toMatchObject([{ blockNumber: number }])
  })
})

it('blocks that are proven are not read again', async () => {
  await start()
  // So that a bloom filter has been seen.
  await mineDeposits(1)
  await untilRead()
  rpc.forgetCalls()
  await mineEmpty(2 * DEPTH)
  expect(rpc.count('eth_getBlockByHash')).toBe(0)
})

it('RECHECK_BLOCKS 0 has no block read again', async () => {
  lie(rpc, NOTHING_PROVEN)
  await start({ [`RECHECK_BLOCKS_${chain.chainId}`]: '0' })
  await mineDeposits(1)
  await mineEmpty(2 * DEPTH)
  expect(rpc.count('eth_getBlockByHash')).toBe(0)
})
