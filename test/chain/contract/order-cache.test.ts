import { describe, expect, test, vi } from 'vitest'
import type { OrderWithSteps } from '../../../packages/protocol/src/orders/order.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { createOrderCaches, type FetchedOrder, MAX_ORDERS } from '../../../src/chain/contract/order-cache.js'
import { only } from '../../support/only.js'

function orderOf(orderId: Hex): OrderWithSteps {
  return { state: 'NONE', chainId: 1, orderId }
}

/** A cache in which each miss is read by `read`. */
function createMemory(read: (orderId: Hex) => Promise<FetchedOrder>) {
  const cache = createOrderCaches([1]).of(1)
  return { ...cache, get: (orderId: Hex, block = 1) => cache.get(orderId, block, read) }
}

/** A cache whose reads end when the test says so. */
function createSlowMemory() {
  const readings: { orderId: Hex; succeed(): OrderWithSteps; fail(error: Error): void }[] = []
  const memory = createMemory(
    (orderId) =>
      new Promise<FetchedOrder>((resolve, reject) => {
        readings.push({
          orderId,
          succeed() {
            const order = orderOf(orderId)
            resolve({ order, atBlock: 1 })
            return order
          },
          fail: reject,
        })
      }),
  )
  const read = (index: number) => {
    const reading = readings[index]
    if (reading === undefined) throw new Error(`there is no read ${index}`)
    return reading
  }
  return { memory, readings, read }
}

/** A cache whose reads succeed at once. */
function createFastMemory({ atBlock }: { atBlock: number | undefined } = { atBlock: 1 }) {
  const read = vi.fn(async (orderId: Hex): Promise<FetchedOrder> => ({ order: orderOf(orderId), atBlock }))
  return { memory: createMemory(read), read }
}

describe('an order', () => {
  test('is read once for all callers that ask during the read', async () => {
    const { memory, readings, read } = createSlowMemory()
    const asked = [memory.get('0x1'), memory.get('0x1'), memory.get('0x2'), memory.get('0x1')]
    expect(readings.map(({ orderId }) => orderId)).toEqual(['0x1', '0x2'])
    const [first, second] = [read(0).succeed(), read(1).succeed()]
    const got = await Promise.all(asked)
    for (const [index, order] of [first, first, second, first].entries()) expect(got[index]).toBe(order)
  })

  test('that the contract does not know is read again after five blocks, and others are not', async () => {
    const { memory, read } = createFastMemory()
    for (const block of [1, 5, 6, 6]) await memory.get('0x1', block)
    expect(read).toHaveBeenCalledTimes(3)
    const caches = createOrderCaches([1]).of(1)
    const settled = only<OrderWithSteps>({ state: 'SETTLED', chainId: 1, steps: {} })
    await caches.get('0x1', 1, async () => ({ order: settled, atBlock: 1 }))
    expect(caches.peek('0x1', 1000)).toBe(settled)
  })

  test('is not cached when its state may be that of an older block', async () => {
    const { memory, read } = createFastMemory({ atBlock: undefined })
    for (const _ of [1, 2, 3]) expect(await memory.get('0x1')).toEqual(orderOf('0x1'))
    expect(read).toHaveBeenCalledTimes(3)
  })

  test('that could not be read fails for all waiting callers, and is read again for the next one', async () => {
    const { memory, readings, read } = createSlowMemory()
    const asked = [memory.get('0x1'), memory.get('0x1')]
    const failure = new Error('no answer')
    read(0).fail(failure)
    for (const each of asked) await expect(each).rejects.toBe(failure)

    const next = memory.get('0x1')
    const order = read(1).succeed()
    expect(await next).toBe(order)
    expect(await memory.get('0x1')).toBe(order)
    expect(readings).toHaveLength(2)
  })
})

test.each(['invalidate', 'clear'] as const)(
  '%s during a read makes the next callers read again, and what the older read finds is not cached',
  async (what) => {
    const { memory, readings, read } = createSlowMemory()
    const before = memory.get('0x1')
    memory[what]('0x1')
    const after = [memory.get('0x1')]
    const older = read(0).succeed()
    expect(await before).toBe(older)
    after.push(memory.get('0x1'))
    const newer = read(1).succeed()
    for (const each of after) expect(await each).toBe(newer)
    expect(await memory.get('0x1')).toBe(newer)
    expect(readings).toHaveLength(2)
  },
)

test('the chains share the number of orders, and those that were not read for longest leave first', async () => {
  const cache = createOrderCaches([1, 2]).of(1)
  const remember = (orderId: Hex) =>
    cache.get(orderId, 1, async () => ({ order: orderOf(orderId), atBlock: 1 }))
  for (let index = 0; index < MAX_ORDERS / 2; index++) await remember(`0x${index}`)
  expect(cache.peek('0x0', 1)).toBeDefined()
  await remember('0xnew')
  expect([cache.peek('0x0', 1), cache.peek('0x1', 1)]).toEqual([orderOf('0x0'), undefined])
})

test('an event invalidates its order on its own chain only', async () => {
  const caches = createOrderCaches([1, 2])
  const read = async (orderId: Hex) => ({ order: orderOf(orderId), atBlock: 1 })
  for (const chainId of [1, 2])
    for (const orderId of ['0x1', '0x2'] as const) await caches.of(chainId).get(orderId, 1, read)
  caches.invalidate({ chainId: 1, orderId: '0x1' })
  caches.invalidate({ chainId: 3, orderId: '0x2' })
  const cached = (chainId: number) =>
    (['0x1', '0x2'] as const).map((orderId) => caches.of(chainId).peek(orderId, 1)?.orderId)
  expect([cached(1), cached(2)]).toEqual([
    [undefined, '0x2'],
    ['0x1', '0x2'],
  ])
})
