import SQLite from 'better-sqlite3'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFile } from '../store/temporary-file.js'
import { startChain, type TestChain } from './chain.js'
import { expectedMessages, standing } from './event-messages.js'
import { createTraffic, type Traffic } from './event-traffic.js'
import { eventually } from './eventually.js'
import { gate } from './gate.js'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.js'
import { startService, type TestService } from './service.js'
import { type EventWatch, watchEvents } from './watch-events.js'

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let service: TestService
let events: EventWatch
let lines: { level: number; msg: string; reason?: string }[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 71 })
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
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '10',
    ...environment,
  }
  service = await startService(chain, variables, { log })
  events = await watchEvents(service)
}
const health = async () => (await service.get('/health')).body
const chainHealth = async () => (await health()).chains[0]
const untilStatus = (wanted: string) => eventually(chainHealth, ({ status }) => status === wanted)
const eventBlock = () => service.metric('aggregator_chain_event_block', {})
const errors = () => lines.filter(({ level }) => level >= 50)
async function untilRead() {
  const { number } = await traffic.head()
  await eventually(eventBlock, (block) => block === number)
}

/** Resolves when the node has not been asked for so long. */
async function untilPause(ms: number): Promise<void> {
  let [count, since] = [-1, 0]
  await eventually(
    async () => {
      if (rpc.requests().length !== count) [count, since] = [rpc.requests().length, performance.now()]
      return performance.now() - since
    },
    (pauseMs) => pauseMs >= ms,
  )
}

describe('events that cannot be written', () => {
  it('are logged as such, show in /health, and are written once the database takes them', async () => {
    const path = temporaryFile()
    await start({ DB_PATH: path })
    await traffic.mine()
    await untilRead()
    const { number } = await traffic.head()
    const other = new SQLite(path)
    other.exec(`create trigger refusal before insert on events begin select raise(abort, 'no room'); end`)
    await traffic.run({ events: 3, blocks: 2 })
    const { status } = await eventually(health, ({ chains }) => chains[0].status === 'down')
    expect(status).toBe('degraded')
    expect(errors()).toEqual([
      expect.objectContaining({
        msg: 'events cannot be written',
        reason: expect.stringContaining('no room'),
      }),
    ])
    expect(await service.metric('aggregator_rpc_errors_total', {})).toBe(0)
    // The chain goes on meanwhile, which changes nothing.
    await traffic.run({ events: 3, blocks: 2 })
    await untilPause(300)
    expect((await chainHealth()).status).toBe('down')
    expect(errors()).toHaveLength(1)

    other.exec('drop trigger refusal')
    other.close()
    await untilStatus('ok')
    await events.untilCount(6)
    expect(standing(events.events())).toEqual(await expectedMessages(chain, number + 1))
    expect(events.events()).toHaveLength(6)
  })
})

describe('a head that no chain can have', () => {
  it('is gone from /health and the metrics with the next right answer', async () => {
    await start()
    await traffic.run({ events: 2, blocks: 2 })
    await untilRead()
    const told = gate()
    let isTold = false
    rpc.intercept(async ({ method, params = [] }, pass) => {
      const reply = await pass()
      if (isTold || method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return reply
      isTold = true
      told.open()
      return { result: { ...(reply.result as object), number: `0x${(10 ** 9).toString(16)}` } }
    })
    await told.opened
    await traffic.run({ events: 2, blocks: 2 })
    await untilRead()
    const { number } = await traffic.head()
    expect(await chainHealth()).toMatchObject({ status: 'ok', headBlock: number })
    expect(await service.metric('aggregator_chain_head_block', {})).toBe(number)
  })
})

describe('a chain that has become lower than the stored blocks', () => {
  it('is down with a line that says what to do, and is read again when it has grown', async () => {
    const { number } = await traffic.head()
    await start({ MAX_REORG_DEPTH: '2' })
    await traffic.mine()
    const back = await traffic.snapshot()
    await traffic.run({ events: 8, blocks: 8 })
    await untilRead()
    await back()
    await traffic.run({ events: 2, blocks: 1 })
    expect((await eventually(health, ({ chains }) => chains[0].status === 'down')).status).toBe('degraded')
    expect(errors()).toHaveLength(1)
    expect(errors()[0]?.msg).toMatch(/lower than .*stored.*reset.*RPC_URL_/s)

    await traffic.run({ events: 12, blocks: 12 })
    await untilStatus('ok')
    await untilRead()
    const expected = await expectedMessages(chain, number + 1)
    await eventually(
      async () => standing(events.events()),
      (told) => told.length >= expected.length,
    )
    expect(standing(events.events())).toEqual(expected)
  })
})
