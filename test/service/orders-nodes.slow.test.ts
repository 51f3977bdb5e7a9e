import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../support/chain/chain.js'
import { createTraffic, type Traffic } from '../support/chain/event-traffic.js'
import { deferred } from '../support/deferred.js'
import { eventually } from '../support/eventually.js'
import type { RpcRequest } from '../support/faults/chain-view.js'
import { orderIdOf, type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../support/service/service.js'
import { watchEvents } from '../support/streams/watch-events.js'

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 13 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
})
afterEach(async () => {
  await service?.close()
  rpc.close()
})

const start = (environment: Record<string, string> = {}) =>
  startService(chain, {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    ...environment,
  })
const read = (orderId: string) => service.get(`/v1/${chain.chainId}/order/${orderId}`)
const stateOf = async (orderId: string) => (await read(orderId)).body.state
const chainHealth = async () => (await service.get('/health')).body.chains[0]
const untilStatus = (wanted: string) => eventually(chainHealth, ({ status }) => status === wanted)
const untilHead = (block: number) => eventually(chainHealth, ({ headBlock }) => headBlock >= block)
const isOrderRead = (call: RpcRequest) => orderIdOf(call) !== undefined
const depositOf = async () => {
  const order = traffic.order()
  const { number } = await traffic.mine([traffic.actions.deposit(order)])
  return { order, orderId: order.orderId, number }
}

describe('a node', () => {
  it('without the last block gives at most one old state of an order', async () => {
    service = await start()
    const { orderId, number } = await depositOf()
    await untilHead(number)
    // The node at the same URL that answers reads of orders has not seen the block yet.
    rpc.intercept(async (call, pass, ask) => {
      if (!isOrderRead(call)) return pass()
      const at = call.params?.[1]
      if (typeof at === 'object') return { error: { code: -32000, message: 'unknown block' } }
      return ask('eth_call', [call.params?.[0], `0x${(number - 1).toString(16)}`])
    })
    expect(await stateOf(orderId)).toBe('NONE')
    rpc.intercept()
    rpc.forgetCalls()
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    expect(rpc.orderReads()).toEqual([[orderId]])
  })

  it('that is late is asked for the state at the block of the event', async () => {
    service = await start()
    const events = await watchEvents(service)
    const { orderId } = await depositOf()
    await events.untilCount(1)
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    const { hash } = await traffic.head()
    const reads = rpc.requests().flat().filter(isOrderRead)
    expect(reads.map(({ params }) => params?.[1])).toEqual([{ blockHash: hash }])
    events.close()
  })
})

describe('a chain that is down', () => {
  it('answers no orders, those in memory included, and all of them after its return', async () => {
    service = await start()
    const { orderId, number } = await depositOf()
    await untilHead(number)
    expect([await stateOf(orderId), await stateOf(orderId)]).toEqual(['DEPOSITED', 'DEPOSITED'])
    rpc.setUp(false)
    await untilStatus('down')
    const { status, body } = await read(orderId)
    expect([status, body.code]).toEqual([503, 'CHAIN_UNAVAILABLE'])
    rpc.setUp(true)
    await untilStatus('ok')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
  })

  it('publishes what happened in the meantime when it answers again', async () => {
    service = await start()
    const { order, orderId, number } = await depositOf()
    await untilHead(number)
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    rpc.setUp(false)
    await untilStatus('down')
    await traffic.mine([traffic.actions.fill(order)])
    rpc.setUp(true)
    const answer = await eventually(
      () => read(orderId),
      ({ status }) => status === 200,
    )
    expect(answer.body.state).toBe('SETTLED')
  })
})

it('CONFIRMATIONS delays events, but not the state of an order', async () => {
  service = await start({ [`CONFIRMATIONS_${chain.chainId}`]: '3' })
  const events = await watchEvents(service)
  const { order, orderId, number } = await depositOf()
  await untilHead(number)
  expect(await stateOf(orderId)).toBe('DEPOSITED')
  const filled = await traffic.mine([traffic.actions.fill(order)])
  await untilHead(filled.number)
  expect(await stateOf(orderId)).toBe('SETTLED')
  expect(events.types()).toEqual([])
  for (let block = 0; block < 3; block++) await traffic.mine()
  await events.untilCount(2)
  expect(events.types()).toEqual([`Deposited ${orderId}`, `Settled ${orderId}`])
  events.close()
})

describe('while old events are read', () => {
  /** A call that is held longer counts as failed. */
  const CALL_LIMIT_MS = 5000

  const untilRemembered = (orderId: string) =>
    eventually(
      async () => {
        rpc.forgetCalls()
        await stateOf(orderId)
        return rpc.orderReads()
      },
      (reads) => reads.length === 0,
    )

  const isRange = ({ method, params }: RpcRequest) =>
    method === 'eth_getLogs' && JSON.stringify(params).includes('fromBlock')
  const BACKFILL = { MAX_REORG_DEPTH: '2' }

  /** Returns at most two blocks' events at once, and none from a block on until the gate is open. */
  function holdRangesFrom(block: number) {
    const held = deferred()
    const asked = deferred()
    rpc.intercept(async (call, pass) => {
      if (!isRange(call)) return pass()
      const { fromBlock, toBlock } = (call.params?.[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (Number(toBlock) - Number(fromBlock) > 1)
        return { error: { code: -32005, message: 'query returned more than 10000 results' } }
      if (Number(toBlock) < block) return pass()
      asked.open()
      await held.opened
      return pass()
    })
    return { ...held, reached: asked.opened }
  }

  it('orders have the state of the chain, and are remembered afterwards', async () => {
    const { orderId } = await depositOf()
    for (let block = 0; block < 4; block++) await traffic.mine()
    const held = rpc.hold(isRange)
    service = await start({ ...BACKFILL, [`START_BLOCK_${chain.chainId}`]: '0' })
    await held.reached
    expect((await chainHealth()).status).not.toBe('ok')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    held.release()
    await untilStatus('ok')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    rpc.forgetCalls()
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    expect(rpc.orderReads()).toEqual([])
  })

  it('orders do not have the state from before the interruption', async () => {
    service = await start(BACKFILL)
    const { order, orderId, number } = await depositOf()
    await untilHead(number)
    await untilRemembered(orderId)
    rpc.setUp(false)
    await untilStatus('down')
    for (let block = 0; block < 8; block++) await traffic.mine()
    const filled = await traffic.mine([traffic.actions.fill(order)])
    for (let block = 0; block < 8; block++) await traffic.mine()
    const held = holdRangesFrom(filled.number)
    rpc.setUp(true)
    await held.reached
    await untilStatus('syncing')
    // A call in the same HTTP request as a range has to wait for it.
    expect(await stateOf(orderId)).toBe('SETTLED')
    held.open()
    await untilStatus('ok')
    expect(await stateOf(orderId)).toBe('SETTLED')
  })

  it('requests that were sent just before do not wait for the end of the ranges', async () => {
    service = await start(BACKFILL)
    const { orderId, number } = await depositOf()
    await untilHead(number)
    rpc.setUp(false)
    await untilStatus('down')
    for (let block = 0; block < 8; block++) await traffic.mine()
    const head = rpc.hold(
      ({ method, params }) => method === 'eth_getBlockByNumber' && params?.[0] === 'latest',
    )
    rpc.setUp(true)
    await head.reached
    const reading = stateOf(orderId)
    await chainHealth()
    const range = rpc.hold(isRange)
    head.release()
    await range.reached
    const since = performance.now()
    expect(await reading).toBe('DEPOSITED')
    expect(performance.now() - since).toBeLessThan(CALL_LIMIT_MS - 1000)
    range.release()
  })
})
