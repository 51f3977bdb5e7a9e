import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBlockMiner } from '../../support/chain/block-miner.js'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { type Lies, lie } from '../../support/faults/lying-node.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { type EventMessage, expectedMessages } from '../../support/streams/event-messages.js'

const EVENTS = 120

let chain: TestChain
let rpc: RpcProxy
let service: TestService
let from: number
let expected: EventMessage[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0, extraArgs: ['--prune-history', '1000'] })
  const traffic = await createTraffic(chain, { seed: 35 })
  from = (await traffic.head()).number + 1
  await traffic.run({ events: EVENTS, blocks: 60 })
  // More blocks than are checked one by one.
  const miner = await createBlockMiner(chain.devnet.rpcUrl)
  await miner.rpc.call('anvil_mine', '0x80')
  await traffic.run({ events: EVENTS, blocks: 60 })
  await miner.rpc.call('anvil_mine', '0x4')
  expected = await expectedMessages(chain, from)
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
})
afterEach(async () => {
  await service?.close()
  rpc.close()
})

const isRange = (filter: { fromBlock?: string }) => filter.fromBlock !== undefined
const blockOf = ({ blockNumber }: { blockNumber: string }) => Number(blockNumber)

/** Reads the chain's past in ranges, except its last blocks, and checks every event. */
async function expectEvents(startBlock = from) {
  const wanted = expected.filter((message) => 'blockNumber' in message && message.blockNumber >= startBlock)
  service = await startService(chain, {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    [`START_BLOCK_${chain.chainId}`]: String(startBlock),
    MAX_REORG_DEPTH: '2',
  })
  const { number } = await (await createBlockMiner(chain.devnet.rpcUrl)).blockAt('latest')
  await expect
    .poll(() => service.metric('aggregator_chain_event_block', {}), { timeout: 20_000 })
    .toBe(number)
  expect(await service.metric('aggregator_events_total', {})).toBe(wanted.length)
}

describe('a range from which a node omits', () => {
  it.each([
    ['all but the first logs', (logs) => logs.slice(0, 30)],
    ['all but the last logs', (logs) => logs.slice(-30)],
    ['all logs', () => []],
    ['a part in the middle', (logs) => [...logs.slice(0, 60), ...logs.slice(-60)]],
  ] satisfies [string, NonNullable<Lies['logs']>][])('%s is read in smaller ranges', async (_what, cut) => {
    lie(rpc, { logs: (logs, _times, filter) => (isRange(filter) ? cut(logs) : logs) })
    await expectEvents()
  })

  it.each([true, false])('a part of one block is completed (receipts: %s)', async (hasReceipts) => {
    const start = Number(expected.at(-1)?.blockNumber) - 50
    const hole = Number(expected.at(-20)?.blockNumber)
    lie(rpc, {
      logs: (logs, _times, filter) => (isRange(filter) ? logs.filter((log) => blockOf(log) !== hole) : logs),
      ...(hasReceipts ? {} : { receipts: false }),
    })
    await expectEvents(start)
  })
})

it('the check of a long range needs fewer than a hundred headers', async () => {
  await expectEvents()
  const calls = rpc.requests().flat()
  const ranges = calls.filter(
    ({ method, params }) => method === 'eth_getLogs' && isRange(params?.[0] as object),
  )
  // The range itself, and the blocks of its first and last log.
  expect(ranges).toHaveLength(3)
  const headers = calls.filter(({ method, params }) => {
    return method === 'eth_getBlockByNumber' && Number(params?.[0]) >= from
  })
  expect(headers.length).toBeLessThan(110)
})
