import { describe, expect, test } from 'vitest'
import type { ListedOrder, OrderFilter, OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { trade } from '../../../packages/protocol/test/orders/trade.js'
import { createRecentTrades } from '../../../src/chain/tokens/recent-trades.js'
import type { OrderStore } from '../../../src/store/orders/order-store.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const NOW = 1_800_000_000
const HOUR = 3600
const addressOf = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`
const entryOf = (address: Address) =>
  [address, { address, symbol: 'A', decimals: 18, logo: undefined }] as const

/** Two chains of which the first may pay out on the second, and their settled orders, newest first. */
function createFixture({ listed = [] as readonly Address[] } = {}) {
  const clock = createManualClock(NOW * 1000)
  const settled = new Map<number, readonly ListedOrder[]>()
  const reads: number[] = []
  const state: { failure: Error | undefined } = { failure: undefined }
  async function list(chainId: number, filter: OrderFilter, after: OrderPosition | undefined, limit: number) {
    if (state.failure !== undefined) throw state.failure
    expect(filter).toEqual({ state: 'SETTLED' })
    reads.push(chainId)
    const start = after?.blockNumber ?? 0
    const all = settled.get(chainId) ?? []
    const orders = all.slice(start, start + limit)
    const end = start + orders.length
    return {
      orders,
      next: end < all.length ? { blockNumber: end, logIndex: 0, orderId: '0x' as const } : undefined,
    }
  }
  const chains = [
    { chainId: 1, destinationChains: [1, 2], tokenList: new Map() },
    { chainId: 2, destinationChains: [2], tokenList: new Map(listed.map(entryOf)) },
  ]
  const orders = only<OrderStore>({ list })
  const trades = createRecentTrades(only({ config: { chains }, instance: { stores: { orders } }, clock }))
  return { clock, settled, reads, state, trades }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('all callers share a read, and nothing is read while nobody asks', async () => {
  const { clock, settled, reads, trades } = createFixture()
  settled.set(2, [trade({ chainId: 2 })])
  await clock.advance(HOUR * 1000)
  expect(reads).toEqual([])
  const [one, other] = await Promise.all([trades.pairs(2), trades.pairs(2)])
  expect(one).toBe(other)
  expect(reads).toEqual([2])
  settled.set(2, [])
  await clock.advance(2000)
  expect(await trades.pairs(2)).toBe(one)
  await clock.advance(61)
  expect(await trades.pairs(2)).toEqual([])
})

test('the more orders were read, the longer the result is shared, up to a minute', async () => {
  const { clock, settled, reads, trades } = createFixture()
  settled.set(
    2,
    numbers(5000).map(() => trade({ chainId: 2, settledAt: NOW })),
  )
  await trades.pairs(2)
  expect(reads).toHaveLength(25)
  await clock.advance(59_999)
  await trades.pairs(2)
  expect(reads).toHaveLength(25)
  await clock.advance(1)
  await trades.pairs(2)
  expect(reads).toHaveLength(50)
})

describe('a read', () => {
  test('takes at most the newest 20,000 orders, and other work goes on between its pages', async () => {
    const { settled, reads, trades } = createFixture()
    settled.set(
      2,
      numbers(20_001).map(() => trade({ chainId: 2, settledAt: NOW })),
    )
    let turns = 0
    const count = setInterval(() => turns++, 0)
    const [pair] = await trades.pairs(2)
    clearInterval(count)
    expect(pair?.orders24h).toBe(20_000)
    expect(reads).toHaveLength(100)
    expect(turns).toBeGreaterThan(5)
  })

  test('ends at orders of more than a day, but takes a thousand in any case', async () => {
    const { settled, reads, trades } = createFixture()
    const settledAt = NOW - 25 * HOUR
    settled.set(2, [
      ...numbers(1200).map(() => trade({ chainId: 2, settledAt: NOW })),
      ...numbers(1000).map(() => trade({ chainId: 2, settledAt })),
    ])
    expect((await trades.pairs(2))[0]?.orders24h).toBe(1200)
    expect(reads).toHaveLength(7)
    const old = createFixture()
    old.settled.set(
      2,
      numbers(3000).map((number) => trade({ chainId: 2, settledAt, inputToken: addressOf(number) })),
    )
    expect(await old.trades.pairs(2)).toHaveLength(500)
    expect(old.reads).toHaveLength(5)
  })
})

test('of 10,000 tokens, the listed ones and those of most users are in an answer', async () => {
  const listed = addressOf(9999)
  const { settled, trades } = createFixture({ listed: [listed, addressOf(20_000)] })
  const most = addressOf(5000)
  settled.set(2, [
    ...numbers(10_000).map((number) =>
      trade({ chainId: 2, inputToken: addressOf(number), outputToken: addressOf(number + 30_000) }),
    ),
    ...numbers(3).map((user) =>
      trade({ chainId: 2, user: addressOf(user), inputToken: most, outputToken: listed }),
    ),
  ])
  const tokens = await trades.tokens(2)
  expect(tokens).toHaveLength(500)
  expect(tokens.slice(0, 4).map(({ address }) => address)).toEqual([
    listed,
    addressOf(20_000),
    most,
    addressOf(0),
  ])
  expect(tokens[1]).toEqual({ address: addressOf(20_000), listed: expect.anything() })
  expect(await trades.pairs(2)).toHaveLength(500)
})

test('an output is a token of its destination chain, when the instance serves that', async () => {
  const { settled, trades } = createFixture({ listed: [addressOf(7)] })
  const [input, output] = [addressOf(1), addressOf(7)]
  const one = { chainId: 1, inputToken: input, outputToken: output, settledAt: NOW - 5 }
  settled.set(1, [
    trade({ ...one, outputChainId: 2 }),
    trade({ ...one, outputChainId: 99, outputToken: addressOf(8) }),
  ])
  settled.set(2, [trade({ chainId: 2, inputToken: output, outputToken: addressOf(3), settledAt: NOW })])
  expect((await trades.tokens(1)).map(({ address }) => address)).toEqual([input])
  expect(await trades.tokens(2)).toEqual([
    { address: output, listed: expect.anything(), orders24h: 2, users24h: 2, lastUsed: NOW },
    { address: addressOf(3), listed: undefined, orders24h: 1, users24h: 1, lastUsed: NOW },
  ])
  expect(await trades.pairs(1)).toMatchObject([
    { destinationChainId: 2, listed: false },
    { destinationChainId: 99, listed: false },
  ])
})
