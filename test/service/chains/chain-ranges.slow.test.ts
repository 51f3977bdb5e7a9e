import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { deployChattySettlement } from '../../support/chain/chatty-settlement.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'

/** Anvil writes more than 600 bytes for each log: more than 10 MiB in all. */
const CHATTY = { events: 20_000, eventsPerBlock: 2000 }
const QUIET = { events: 120, eventsPerBlock: 10, seed: 1 }

let chain: TestChain
let rpc: RpcProxy
let service: TestService
let chatty: { fromBlock: number; toBlock: number }
let quiet: typeof chatty

beforeAll(async () => {
  chain = await startChain({ bonded: 0, extraArgs: ['--prune-history', '1000'] })
  const { address, emitEvents } = await deployChattySettlement(chain.devnet, chain.contracts.bondToken)
  chain = { ...chain, contracts: { ...chain.contracts, settlement: address } }
  chatty = await emitEvents(CHATTY)
  quiet = await emitEvents(QUIET)
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
})
afterEach(async () => {
  await service?.close()
  rpc.close()
})

const start = (environment: Record<string, string>) =>
  startService(chain, {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    ...environment,
  })
const from = (block: number) => ({ [`START_BLOCK_${chain.chainId}`]: String(block) })
const eventCount = () => service.metric('aggregator_events_total', {})
const untilEvents = (count: number) => expect.poll(eventCount, { timeout: 25_000 }).toBe(count)

describe('a node that rejects wide ranges', () => {
  it.each([
    { code: -32005, message: 'query returned more than 10000 results' },
    { code: -32000, message: 'block range is too wide' },
  ])('with $code gets smaller requests, and never counts as down', async (error) => {
    rpc.intercept(async ({ method, params }, pass) => {
      const { fromBlock, toBlock } = (params?.[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      const isWide = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 3
      return isWide ? { error } : pass()
    })
    service = await start({ MAX_REORG_DEPTH: '2', ...from(quiet.fromBlock) })
    await untilEvents(QUIET.events)
    expect(await service.metric('aggregator_rpc_errors_total', {})).toBe(0)
  })
})

describe('logs of more than ten mebibytes', () => {
  it('are read as a range', async () => {
    service = await start({ MAX_REORG_DEPTH: '12', ...from(chatty.fromBlock) })
    await untilEvents(CHATTY.events + QUIET.events)
  })

  it('are read block by block', async () => {
    service = await start(from(chatty.fromBlock))
    await untilEvents(CHATTY.events + QUIET.events)
    expect(await service.metric('aggregator_rpc_errors_total', {})).toBe(0)
  })
})
