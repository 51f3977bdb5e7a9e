import { describe, expect, test } from 'vitest'
import type { OrderSteps } from '../../../packages/protocol/src/orders/order.js'
import type { ChainContext } from '../../../src/chain/context.js'
import { createContractReader } from '../../../src/chain/contract/contract-reader.js'
import { createOrderCaches } from '../../../src/chain/contract/order-cache.js'
import type { ChainSnapshot } from '../../../src/chain/sync/chain-state.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const HASH = `0x${'ab'.repeat(32)}` as const
const ORDER_ID = `0x${'cd'.repeat(32)}` as const
const STEPS: OrderSteps = {
  deposited: { blockNumber: 4, logIndex: 0, transactionHash: HASH, blockTime: 100 },
}
const AT_LAST = JSON.stringify({ blockHash: HASH })
const DEPOSITED = `0x${[1, 2, 1, 1, 1, 1, 1, 1, 1].map((word) => String(word).padStart(64, '0')).join('')}`

/** A reader of a chain whose last block is 5, at a node that has a deposited order. */
function createTestReader() {
  const clock = createManualClock()
  const head = { number: 5, hash: HASH, parentHash: HASH, timestampMs: 0 }
  const snapshot: ChainSnapshot = { status: 'ok', head, last: head, published: 5 }
  const on = {
    snapshot,
    polls: 0,
    /** The blocks at which the contract was read. */
    reads: [] as string[],
    head: '0x5',
    answer: (_at: string): unknown => DEPOSITED,
    readSteps: async (): Promise<OrderSteps> => STEPS,
  }
  const state = {
    get snapshot() {
      return on.snapshot
    },
    async poll() {
      on.polls++
      return true
    },
  }
  async function request({ method, params }: { method: string; params: readonly unknown[] }) {
    if (method === 'eth_blockNumber') return on.head
    const at = JSON.stringify(params[1])
    on.reads.push(at)
    return on.answer(at)
  }
  const context = only<ChainContext>({
    config: { chainId: 1, settlement: `0x${'12'.repeat(20)}` },
    rpc: { client: { request } },
    orders: createOrderCaches([1]).of(1),
    orderStore: { readSteps: () => on.readSteps() },
    clock,
    log: createLog('silent'),
  })
  const reader = createContractReader(context, () => state)
  async function read() {
    const [order] = await Promise.all([reader.readOrder(ORDER_ID), clock.advance(1000)])
    return { state: order.state, steps: 'steps' in order ? order.steps : undefined }
  }
  return { on, clock, reader, read }
}

const IN_FULL = { state: 'DEPOSITED', steps: STEPS }

test('orders that are not in memory cost one poll in a second, which begins after each of them was asked for', async () => {
  const { on, clock, reader } = createTestReader()
  const ask = (number: number) => reader.readOrder(`0x${String(number).padStart(64, '0')}`)
  await ask(1)
  expect(on.polls).toBe(1)
  const later = [2, 3, 4].map(ask)
  await clock.advance(999)
  expect(on.polls).toBe(1)
  later.push(Promise.resolve(ask(5)))
  await clock.advance(1)
  await Promise.all(later)
  expect(on.polls).toBe(2)
})

describe('an order', () => {
  test('is read as of the last block, and then from memory', async () => {
    const { on, read } = createTestReader()
    expect([await read(), await read()]).toEqual([IN_FULL, IN_FULL])
    expect([on.reads, on.polls]).toEqual([[AT_LAST], 1])
  })

  test('is read again while a node does not have the last block', async () => {
    const { on, read } = createTestReader()
    on.answer = (at) => {
      if (at === AT_LAST) throw Object.assign(new Error('unknown block'), { code: -32000 })
      return DEPOSITED
    }
    expect([await read(), await read()]).toEqual([IN_FULL, IN_FULL])
    expect(on.reads).toEqual([AT_LAST, '"latest"', AT_LAST, '"latest"'])
  })

  test.each<[string, Partial<ChainSnapshot>]>([
    ['the chain is down', { status: 'down' }],
    ['old blocks are read', { status: 'syncing' }],
  ])('comes not from memory while %s', async (_what, change) => {
    const { on, read } = createTestReader()
    await read()
    on.snapshot = { ...on.snapshot, ...change }
    expect(await read()).toEqual(IN_FULL)
    on.answer = () => Promise.reject(new Error('no answer'))
    await expect(read()).rejects.toMatchObject({ reason: 'CHAIN_UNAVAILABLE' })
    expect(on.reads).toEqual([AT_LAST, '"latest"', '"latest"'])
  })

  test.each([
    ['fails', () => Promise.reject(new Error('the database is down'))],
    ['does not answer', () => new Promise<never>(() => {})],
  ])('comes without its steps, and is not remembered, while the database %s', async (_how, readSteps) => {
    const { on, read } = createTestReader()
    on.readSteps = readSteps
    expect(await read()).toEqual({ state: 'DEPOSITED', steps: {} })
    on.readSteps = async () => STEPS
    expect(await read()).toEqual(IN_FULL)
  })
})

test('a node behind the last block is asked for a nonce once more, as of that block', async () => {
  const { on, reader } = createTestReader()
  on.answer = (at) => `0x${String(Number(at === AT_LAST)).padStart(64, '0')}`
  const ask = () => reader.isNonceUsed(`0x${'aa'.repeat(20)}`, 7n)
  expect(await ask()).toBe(false)
  on.head = '0x4'
  expect(await ask()).toBe(true)
})
