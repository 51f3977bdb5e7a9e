import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createBatchRpc, quantity } from '../../support/chain/batch-rpc.js'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { type ChaosProxy, startChaosProxy } from '../../support/faults/chaos-proxy.js'
import {
  type EventMessage,
  expectedMessages,
  type StreamMessage,
  standing,
} from '../../support/streams/event-messages.js'

let chain: TestChain
let traffic: Traffic

beforeAll(async () => {
  chain = await startChain()
  traffic = await createTraffic(chain, { seed: 1 })
})
afterAll(() => chain.stop())

describe('the canonical events of a subscriber', () => {
  const settled = (orderId: string, blockNumber: number, chainId = 1): EventMessage => ({
    type: 'Settled',
    chainId,
    orderId,
    blockNumber,
    user: '0xd',
    solver: '0xe',
    transactionHash: '0x7a',
    logIndex: 0,
    blockTime: 1_700_000_000,
  })
  const reverted = (message: EventMessage): StreamMessage => ({
    type: 'Reverted',
    event: message.type,
    chainId: message.chainId,
    orderId: message.orderId,
    blockNumber: message.blockNumber,
    transactionHash: message.transactionHash,
    logIndex: message.logIndex,
    blockTime: message.blockTime,
    cursor: 'r',
  })
  const [a, b, other] = [settled('0xa', 1), settled('0xb', 2), settled('0xc', 1, 2)]

  test('are those that were not removed, in order and without cursors', () => {
    const messages = [
      { ...a, cursor: '1' },
      b,
      other,
      reverted(b),
      settled('0xb', 3),
      reverted(settled('0xb', 3)),
    ]
    expect(standing(messages)).toEqual([a, other])
    expect(standing([a, b, reverted(b), reverted(a), b, a])).toEqual([b, a])
  })

  test.each([
    ['before the latest', [a, b, reverted(a)]],
    ['that never came', [a, reverted(b)]],
    ['for the second time', [a, b, reverted(b), reverted(b)]],
    ['of another block', [a, reverted({ ...a, blockNumber: 9 })]],
    ['of another chain', [a, reverted({ ...a, chainId: 2 })]],
  ])('cannot be read after the removal of an event %s', (_case, messages) => {
    expect(() => standing(messages)).toThrow('removes')
  })
})

describe('generated traffic', () => {
  test('has in each block the actions that it was mined with, in order', async () => {
    const { actions, order, head, mine } = traffic
    const { timestamp } = await head()
    const [filled, expiring, settled] = [order(), order(timestamp), order()]
    const late = order(timestamp - 1)
    const { number } = await mine([
      actions.deposit(filled),
      actions.deposit(expiring),
      actions.settle(settled),
      actions.refundAddressDeposit(late),
      actions.fill(filled),
    ])
    const { number: next } = await mine([actions.refund(expiring)])
    const received = await expectedMessages(chain, number)
    expect(received.map(({ type, orderId, blockNumber }) => [type, orderId, blockNumber])).toEqual([
      ['Deposited', filled.orderId, number],
      ['Deposited', expiring.orderId, number],
      ['Settled', settled.orderId, number],
      ['Refunded', late.orderId, number],
      ['Settled', filled.orderId, number],
      ['Refunded', expiring.orderId, next],
    ])
    await expect(mine([actions.deposit(expiring)])).rejects.toThrow('cannot be in a block of the time')
    await expect(mine([actions.fill(filled)])).rejects.toThrow('reverted: OrderNotDeposited')
  })

  test('reorganises in every way only the blocks after their ancestor', async () => {
    const blocksOf = async () =>
      (
        await createBatchRpc(chain.devnet.rpcUrl).batch<{ hash: string }>(
          Array.from({ length: (await traffic.head()).number + 1 }, (_, n) => [
            'eth_getBlockByNumber',
            quantity(n),
            false,
          ]),
        )
      ).map(({ hash }) => hash)
    const { fromBlock, toBlock } = await traffic.run({ events: 60, blocks: 12 })
    expect(await expectedMessages(chain, fromBlock, toBlock)).toHaveLength(60)

    const before = await blocksOf()
    await traffic.reorganiseAtRandom({ depth: 5, events: 20, longerBy: 2 })
    const after = await blocksOf()
    expect(after).toHaveLength(before.length + 2)
    expect(before.map((hash, n) => hash === after[n])).toEqual(before.map((_, n) => n <= toBlock - 5))

    const back = await traffic.snapshot()
    await traffic.run({ events: 10, blocks: 2 })
    await back()
    expect(await blocksOf()).toEqual(after)
    await traffic.rollBack(3)
    expect(await blocksOf()).toEqual(after.slice(0, -3))
    const known = (await expectedMessages(chain, fromBlock)).map(({ orderId }) => orderId)
    expect(traffic.actionsAfter(fromBlock - 1).map(({ order }) => order.orderId)).toEqual(known)
  })
})

describe('the chaos proxy', () => {
  let proxy: ChaosProxy
  beforeAll(async () => {
    proxy = await startChaosProxy(chain.devnet.rpcUrl, { seed: 1 })
  })
  afterAll(() => proxy.close())

  const call = (method: string, ...params: unknown[]) => createBatchRpc(proxy.url).call(method, ...params)

  test('passes calls on until it gets faults, and again after them', async () => {
    const direct = await createBatchRpc(chain.devnet.rpcUrl).call('eth_blockNumber')
    expect(await call('eth_blockNumber')).toBe(direct)
    proxy.set({ error: 1 })
    await expect(call('eth_blockNumber')).rejects.toThrow(/header not found|internal error/)
    proxy.calm()
    expect(await call('eth_blockNumber')).toBe(direct)
    expect(proxy.counts.errors).toBe(1)
  })

  test('rejects, cuts off, and hangs until it is closed', async () => {
    const faulty = await startChaosProxy(chain.devnet.rpcUrl)
    const post = () => fetch(faulty.url, { method: 'POST', body: '{}' })
    faulty.set({ unavailable: 1 })
    expect((await post()).status).toBe(503)
    await expect(once(new WebSocket(faulty.wsUrl), 'open')).rejects.toThrow('503')
    faulty.set({ unavailable: 0, disconnect: 1 })
    await expect(post()).rejects.toThrow('fetch failed')
    faulty.set({ disconnect: 0, hang: 1 })
    const answer = post().then(
      () => 'answered',
      () => 'cut off',
    )
    await expect.poll(() => faulty.counts).toMatchObject({ unavailable: 2, disconnected: 1, hung: 1 })
    await faulty.close()
    expect(await answer).toBe('cut off')
  })

  test('rejects wide ranges of logs', async () => {
    proxy.set({ maxRange: 3 })
    await expect(call('eth_getLogs', { fromBlock: '0x1', toBlock: '0x4' })).rejects.toThrow(
      /more than 10000 results|too wide/,
    )
    await expect(call('eth_getLogs', { fromBlock: '0x1', toBlock: '0x3' })).resolves.toBeDefined()
    proxy.calm()
    expect(proxy.counts.rangesRefused).toBe(1)
  })

  test('answers from an old head, without an error for logs', async () => {
    const { number, hash } = await traffic.mine([traffic.actions.deposit(traffic.order())])
    const range = {
      address: chain.contracts.settlement,
      fromBlock: quantity(number - 1),
      toBlock: quantity(number),
    }
    proxy.set({ stale: 1, lag: 1 })
    expect(Number(await call('eth_blockNumber'))).toBe(number - 1)
    expect(await call('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      number: quantity(number - 1),
    })
    expect(await call('eth_getBlockByNumber', quantity(number), false)).toBeNull()
    expect(await call('eth_getBlockByHash', hash, false)).toBeNull()
    await expect(call('eth_getLogs', { blockHash: hash })).rejects.toThrow('unknown block')
    expect(proxy.counts.stale).toBe(5)
    const blocksWithLogs = async () =>
      ((await call('eth_getLogs', range)) as { blockNumber: string }[]).map((log) => Number(log.blockNumber))
    expect(await blocksWithLogs()).not.toContain(number)
    proxy.calm()
    expect(await blocksWithLogs()).toContain(number)
  })

  test('passes subscriptions on, drops heads and drops connections', async () => {
    const socket = new WebSocket(proxy.wsUrl)
    await once(socket, 'open')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
    await once(socket, 'message')
    const heads: number[] = []
    socket.on('message', (data) => heads.push(Number(JSON.parse(data.toString()).params.result.number)))
    proxy.set({ swallowHead: 1 })
    await traffic.mine()
    await expect.poll(() => proxy.counts.headsSwallowed).toBe(1)
    proxy.calm()
    const { number } = await traffic.mine()
    await expect.poll(() => heads).toEqual([number])
    proxy.dropWebSockets()
    await once(socket, 'close')
    expect(proxy.counts.webSocketsDropped).toBe(1)
    await expect.poll(proxy.webSocketCount).toBe(0)
  })
})
