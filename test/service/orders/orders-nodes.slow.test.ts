import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import type { RpcRequest } from '../../support/faults/chain-view.js'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import { orderIdOf } from '../../support/faults/rpc-proxy.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const on = useProxiedChain({ seed: 13 })
const read = (orderId: string) => on.service.get(`/v1/${on.chain.chainId}/order/${orderId}`)
const stateOf = async (orderId: string) => (await read(orderId)).body.state
const chainHealth = async () => (await on.service.get('/health')).body.chains[0]
const untilStatus = (wanted: string) => eventually(chainHealth, ({ status }) => status === wanted)
const untilHead = (block: number) => eventually(chainHealth, ({ headBlock }) => headBlock >= block)
const isOrderRead = (call: RpcRequest) => orderIdOf(call) !== undefined
const depositOf = async () => {
  const order = on.traffic.order()
  const { number } = await on.traffic.mine([on.traffic.actions.deposit(order)])
  return { order, orderId: order.orderId, number }
}

describe('a node', () => {
  it('without the last block gives at most one old state of an order', async () => {
    await on.start()
    const { orderId, number } = await depositOf()
    await untilHead(number)
    // The node at the same URL that answers reads of orders has not seen the block yet.
    on.rpc.intercept(async (call, pass, ask) => {
      if (!isOrderRead(call)) return pass()
      const at = call.params?.[1]
      if (typeof at === 'object') return { error: { code: -32000, message: 'unknown block' } }
      return ask('eth_call', [call.params?.[0], `0x${(number - 1).toString(16)}`])
    })
    expect(await stateOf(orderId)).toBe('NONE')
    on.rpc.intercept()
    on.rpc.forgetCalls()
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    expect(on.rpc.orderReads()).toEqual([[orderId]])
  })

  it('that is late is asked for the state at the block of the event', async () => {
    await on.start()
    const events = await watchEvents(on.service)
    const { orderId } = await depositOf()
    await events.untilCount(1)
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    const { hash } = await on.traffic.head()
    const reads = on.rpc.requests().flat().filter(isOrderRead)
    expect(reads.map(({ params }) => params?.[1])).toEqual([{ blockHash: hash }])
    events.close()
  })
})

describe('a chain that is down', () => {
  it('answers no orders, those in memory included, and all of them after its return', async () => {
    await on.start()
    const { orderId, number } = await depositOf()
    await untilHead(number)
    expect([await stateOf(orderId), await stateOf(orderId)]).toEqual(['DEPOSITED', 'DEPOSITED'])
    on.rpc.setUp(false)
    await untilStatus('down')
    const { status, body } = await read(orderId)
    expect([status, body.code]).toEqual([503, 'CHAIN_UNAVAILABLE'])
    on.rpc.setUp(true)
    await untilStatus('ok')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
  })

  it('publishes what happened in the meantime when it answers again', async () => {
    await on.start()
    const { order, orderId, number } = await depositOf()
    await untilHead(number)
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    on.rpc.setUp(false)
    await untilStatus('down')
    await on.traffic.mine([on.traffic.actions.fill(order)])
    on.rpc.setUp(true)
    const answer = await eventually(
      () => read(orderId),
      ({ status }) => status === 200,
    )
    expect(answer.body.state).toBe('SETTLED')
  })
})

it('CONFIRMATIONS delays events, but not the state of an order', async () => {
  await on.start({ [`CONFIRMATIONS_${on.chain.chainId}`]: '3' })
  const events = await watchEvents(on.service)
  const { order, orderId, number } = await depositOf()
  await untilHead(number)
  expect(await stateOf(orderId)).toBe('DEPOSITED')
  const filled = await on.traffic.mine([on.traffic.actions.fill(order)])
  await untilHead(filled.number)
  expect(await stateOf(orderId)).toBe('SETTLED')
  expect(events.types()).toEqual([])
  for (let block = 0; block < 3; block++) await on.traffic.mine()
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
        on.rpc.forgetCalls()
        await stateOf(orderId)
        return on.rpc.orderReads()
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
    on.rpc.intercept(async (call, pass) => {
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
    for (let block = 0; block < 4; block++) await on.traffic.mine()
    const held = on.rpc.hold(isRange)
    await on.start({ ...BACKFILL, [`START_BLOCK_${on.chain.chainId}`]: '0' })
    await held.reached
    expect((await chainHealth()).status).not.toBe('ok')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    held.release()
    await untilStatus('ok')
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    on.rpc.forgetCalls()
    expect(await stateOf(orderId)).toBe('DEPOSITED')
    expect(on.rpc.orderReads()).toEqual([])
  })

  it('orders do not have the state from before the interruption', async () => {
    await on.start(BACKFILL)
    const { order, orderId, number } = await depositOf()
    await untilHead(number)
    await untilRemembered(orderId)
    on.rpc.setUp(false)
    await untilStatus('down')
    for (let block = 0; block < 8; block++) await on.traffic.mine()
    const filled = await on.traffic.mine([on.traffic.actions.fill(order)])
    for (let block = 0; block < 8; block++) await on.traffic.mine()
    const held = holdRangesFrom(filled.number)
    on.rpc.setUp(true)
    await held.reached
    await untilStatus('syncing')
    // A call in the same HTTP request as a range has to wait for it.
    expect(await stateOf(orderId)).toBe('SETTLED')
    held.open()
    await untilStatus('ok')
    expect(await stateOf(orderId)).toBe('SETTLED')
  })

  it('requests that were sent just before do not wait for the end of the ranges', async () => {
    await on.start(BACKFILL)
    const { orderId, number } = await depositOf()
    await untilHead(number)
    on.rpc.setUp(false)
    await untilStatus('down')
    for (let block = 0; block < 8; block++) await on.traffic.mine()
    const head = on.rpc.hold(
      ({ method, params }) => method === 'eth_getBlockByNumber' && params?.[0] === 'latest',
    )
    on.rpc.setUp(true)
    await head.reached
    const reading = stateOf(orderId)
    await chainHealth()
    const range = on.rpc.hold(isRange)
    head.release()
    await range.reached
    const since = performance.now()
    expect(await reading).toBe('DEPOSITED')
    expect(performance.now() - since).toBeLessThan(CALL_LIMIT_MS - 1000)
    range.release()
  })
})
