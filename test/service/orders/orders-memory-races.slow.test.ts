import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { RpcRequest } from '../../support/faults/chain-view.js'
import { orderIdOf, type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { type EventWatch, watchEvents } from '../../support/streams/watch-events.js'

let chain: TestChain
let traffic: Traffic
let rpc: RpcProxy
let service: TestService
let events: EventWatch

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 12 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  service = await startService(chain, {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
  })
  events = await watchEvents(service)
})
afterEach(async () => {
  events?.close()
  await service?.close()
  rpc.close()
})

const stateOf = async (orderId: string) =>
  (await service.get(`/v1/${chain.chainId}/order/${orderId}`)).body.state
const isOrderRead = (call: RpcRequest) => orderIdOf(call) !== undefined

describe('an event that arrives while its order is being read', () => {
  it('removes the old state from memory', async () => {
    const order = traffic.order()
    const held = rpc.hold(isOrderRead)
    const early = stateOf(order.orderId)
    await held.reached
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    held.release()
    expect(await early).toBe('NONE')
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    expect(rpc.orderReads()).toEqual([[order.orderId], [order.orderId]])
  })

  it('lets later requests read the order again before the old answer arrives', async () => {
    const order = traffic.order()
    let isFirst = true
    const held = rpc.hold((call) => isOrderRead(call) && isFirst)
    const early = stateOf(order.orderId)
    await held.reached
    isFirst = false
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    held.release()
    expect(await early).toBe('NONE')
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    expect(rpc.orderReads()).toHaveLength(2)
  })

  it('lets the states of other orders be remembered', async () => {
    const [order, other] = [traffic.order(), traffic.order()]
    const held = rpc.hold((call) => orderIdOf(call) === other.orderId)
    const reading = stateOf(other.orderId)
    await held.reached
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    held.release()
    expect([await reading, await stateOf(other.orderId)]).toEqual(['NONE', 'NONE'])
    expect(rpc.orderReads()).toEqual([[other.orderId]])
  })
})

describe('a reorganisation', () => {
  it('lets every order be read again', async () => {
    const [stays, goes, filledBefore] = [traffic.order(), traffic.order(), traffic.order()]
    const states = async () => [
      await stateOf(stays.orderId),
      await stateOf(goes.orderId),
      await stateOf(filledBefore.orderId),
    ]
    await traffic.mine([traffic.actions.deposit(stays), traffic.actions.deposit(filledBefore)])
    await traffic.mine([traffic.actions.deposit(goes), traffic.actions.fill(filledBefore)])
    await traffic.mine()
    await events.untilCount(4)
    expect(await states()).toEqual(['DEPOSITED', 'DEPOSITED', 'SETTLED'])

    await traffic.reorganise(2, [[traffic.actions.fill(stays)]])
    await events.untilCount(7)
    expect(await states()).toEqual(['SETTLED', 'NONE', 'DEPOSITED'])
  })

  it('of blocks without events lets every order be read again too', async () => {
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    await traffic.mine()
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    expect(rpc.orderReads()).toHaveLength(1)
    await traffic.reorganise(1)
    await expect.poll(() => service.metric('aggregator_reorganisations_total', {})).toBe(1)
    expect(await stateOf(order.orderId)).toBe('DEPOSITED')
    expect(rpc.orderReads()).toHaveLength(2)
  })

  it('that arrives while an order is being read leaves no state of the old blocks', async () => {
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await events.untilCount(1)
    const held = rpc.hold(isOrderRead)
    const early = stateOf(order.orderId)
    await held.reached
    await traffic.reorganise(1)
    await events.untilCount(2)
    held.release()
    expect(await early).toBe('DEPOSITED')
    expect(await stateOf(order.orderId)).toBe('NONE')
    expect(await stateOf(order.orderId)).toBe('NONE')
  })

  it('between new blocks never leaves a state that the chain does not have', async () => {
    const order = traffic.order()
    let count = 0
    for (let turn = 0; turn < 8; turn++) {
      await traffic.mine([traffic.actions.deposit(order)])
      count += 1
      await events.untilCount(count)
      expect(await stateOf(order.orderId)).toBe('DEPOSITED')
      await traffic.reorganise(1)
      count += 1
      await events.untilCount(count)
      expect(await stateOf(order.orderId)).toBe('NONE')
    }
  })
})
