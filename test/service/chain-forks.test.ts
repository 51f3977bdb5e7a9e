import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from './chain.js'
import type { Ask, RpcReply } from './chain-view.js'
import { expectedMessages, standing } from './event-messages.js'
import { createTraffic, type Traffic } from './event-traffic.js'
import { eventually } from './eventually.js'
import { gate } from './gate.js'
import { type Interceptor, type RpcProxy, startRpcProxy } from './rpc-proxy.js'
import { startService, type TestService } from './service.js'
import { type EventWatch, watchEvents } from './watch-events.js'

/** A block of a fork that is on no chain: its parent is the block before it in a list, or a real block. */
interface ForkBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let service: TestService
let events: EventWatch
let lines: { level: number; msg: string }[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 61 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  lines = []
})
afterEach(async () => {
  events?.close()
  await service?.close()
  rpc.close()
})

async function start(environment: Record<string, string> = {}) {
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const variables = {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    ...environment,
  }
  service = await startService(chain, variables, { log })
  events = await watchEvents(service)
}
const chainHealth = async () => (await service.get('/health')).body.chains[0]
const eventBlock = () => service.metric('aggregator_chain_event_block', {})
const reorganisations = () => service.metric('aggregator_reorganisations_total', {})
async function untilRead() {
  const { number } = await traffic.head()
  await eventually(eventBlock, (block) => block === number)
}

let serial = 0
/** A hash that no block has. */
const madeUpHash = () => `0x${(++serial).toString(16).padStart(64, 'f')}`

/** Blocks of a fork, one number after another, the lowest first. */
function fork(from: number, to: number, parentHash = madeUpHash()): ForkBlock[] {
  const blocks: ForkBlock[] = []
  for (let number = from; number <= to; number++) {
    blocks.push({ number, hash: madeUpHash(), parentHash: blocks.at(-1)?.hash ?? parentHash })
  }
  return blocks
}

/** Answers with the fork's blocks by their hashes, and once with its head; with the chain's own blocks otherwise. */
function tellOnceOf(blocks: readonly ForkBlock[]) {
  const told = gate()
  let isTold = false
  const asRpc = async (ask: Ask, block: ForkBlock | undefined): Promise<RpcReply> => {
    const { result } = await ask('eth_getBlockByNumber', ['latest', false])
    const real = result as Record<string, unknown>
    return { result: block && { ...real, ...block, number: `0x${block.number.toString(16)}` } }
  }
  const intercept: Interceptor = async ({ method, params = [] }, pass, ask) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest' && !isTold) {
      isTold = true
      told.open()
      return asRpc(ask, blocks.at(-1))
    }
    if (method === 'eth_getBlockByHash') {
      const block = blocks.find(({ hash }) => hash === params[0])
      if (block !== undefined) return asRpc(ask, block)
    }
    if (method === 'eth_getLogs') {
      const { blockHash } = params[0] as { blockHash?: string }
      if (blocks.some(({ hash }) => hash === blockHash)) return { result: [] }
    }
    return pass()
  }
  rpc.intercept(intercept)
  return told.opened
}

describe('one head of another fork', () => {
  it.each([
    { fork: 'that begins below the first block read', mined: 1, from: 1, to: 1, isOnKnown: false },
    { fork: 'of several blocks that begins there', mined: 4, from: 1, to: 5, isOnKnown: false },
    { fork: 'that begins at a known block', mined: 4, from: 4, to: 5, isOnKnown: true },
  ])('$fork removes no event, and reading goes on', async ({ mined, from, to, isOnKnown }) => {
    const root = await traffic.head()
    await start()
    const heads = [root]
    for (let block = 0; block < mined; block++) {
      await traffic.run({ events: 3, blocks: 1 })
      heads.push(await traffic.head())
    }
    await untilRead()
    const parentHash = isOnKnown ? heads[from - 1]?.hash : undefined
    await tellOnceOf(fork(root.number + from, root.number + to, parentHash))
    await traffic.run({ events: 6, blocks: 3 })
    await untilRead()
    await events.untilCount(3 * mined + 6)
    expect(standing(events.events())).toEqual(await expectedMessages(chain, root.number + 1))
    expect(events.events()).toHaveLength(3 * mined + 6)
    expect(await reorganisations()).toBe(0)
    expect(lines.filter(({ level }) => level >= 50)).toEqual([])
    expect((await chainHealth()).status).toBe('ok')
  })

  it('whose parent the node answers with another block for ever is asked for once a look', async () => {
    await start()
    await traffic.run({ events: 2, blocks: 2 })
    await untilRead()
    const { number } = await traffic.head()
    const [wrong] = fork(number, number)
    let asked = 0
    rpc.intercept(async ({ method, params = [] }, pass, ask) => {
      const isWrongHead = method === 'eth_getBlockByNumber' && params[0] === 'latest'
      if (method === 'eth_getBlockByHash') asked++
      if (!isWrongHead && method !== 'eth_getBlockByHash') return pass()
      const { result } = await ask('eth_getBlockByNumber', ['latest', false])
      return { result: { ...(result as object), hash: wrong?.hash, parentHash: madeUpHash() } }
    })
    const looks = () => rpc.requests().filter((calls) => JSON.stringify(calls).includes('"latest"')).length
    rpc.forgetCalls()
    await eventually(
      async () => looks(),
      (count) => count >= 4,
    )
    expect(asked).toBeLessThanOrEqual(looks())
    rpc.intercept()
    await traffic.run({ events: 2, blocks: 1 })
    await events.untilCount(4)
    expect(events.events()).toHaveLength(4)
  })
})

describe('a reorganisation while ranges are read', () => {
  const DEPTH = 4

  it('of a chain without finality is noticed at the next range, and its events are removed', async () => {
    const { number: root } = await traffic.head()
    await traffic.run({ events: 60, blocks: 50 })
    const [reached, released] = [gate(), gate()]
    const begun = new Set<string>()
    rpc.intercept(async ({ method, params = [] }, pass) => {
      if (params[0] === 'finalized') return { error: { code: -32601, message: 'unknown block' } }
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      // Single blocks are the ends of a range, which are read again.
      if (method !== 'eth_getLogs' || fromBlock === undefined || fromBlock === toBlock) return pass()
      if (Number(toBlock) - Number(fromBlock) > 8)
        return { error: { code: -32005, message: 'query returned too many results' } }
      if (begun.add(fromBlock).size === 4) {
        reached.open()
        await released.opened
      }
      return pass()
    })
    await start({ MAX_REORG_DEPTH: String(DEPTH), [`START_BLOCK_${chain.chainId}`]: String(root + 1) })
    await reached.opened
    await traffic.reorganiseAtRandom({ depth: 40, events: 30, longerBy: 2 })
    released.open()
    await untilRead()
    const whole = await watchEvents(service, `?after=${events.cursor().split('.')[0]}.0`)
    const expected = await expectedMessages(chain, root + 1)
    await eventually(
      async () => standing(whole.events()).length,
      (count) => count >= expected.length,
    )
    expect(standing(whole.events())).toEqual(expected)
    expect(whole.events().filter(({ type }) => type === 'Reverted')).not.toEqual([])
    whole.close()
    expect(lines.filter(({ msg }) => msg.includes('deeper than'))).toHaveLength(1)
  })
})
