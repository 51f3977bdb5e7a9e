import { describe, expect, test } from 'vitest'
import type { ListedOrder } from '../../src/orders/order.js'
import { createTradeTally, rankByUse } from '../../src/orders/trades.js'
import { trade } from './trade.js'

const NOW = 1_800_000_000
const [A, B, C] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}` as const)

function tallyOf(orders: readonly ListedOrder[]) {
  const tally = createTradeTally(NOW)
  for (const order of orders) tally.add(order)
  return tally
}

describe('a tally of settled orders', () => {
  test('counts orders, distinct users, volumes and the median time to fill of 24 hours', () => {
    const orders = [
      trade({ user: A, settledAt: NOW - 10, fillSeconds: 1 }),
      trade({ user: A, settledAt: NOW - 20, fillSeconds: 4, inputAmount: 7n }),
      trade({ user: B, settledAt: NOW - 86_399, fillSeconds: 100 }),
      // A payment to a deposit address has no event of its deposit.
      trade({ user: C, settledAt: NOW - 30, fillSeconds: undefined }),
    ]
    expect(tallyOf(orders).pairs()).toEqual([
      {
        inputToken: trade().terms?.inputToken,
        outputToken: trade().terms?.outputToken,
        destinationChainId: 1,
        orders24h: 4,
        users24h: 3,
        inputVolume24h: 307n,
        outputVolume24h: 800n,
        medianFillMs24h: 4000,
        lastUsed: NOW - 10,
      },
    ])
    expect(tallyOf(orders).tokens()).toMatchObject([
      { chainId: 1, token: trade().terms?.inputToken, orders24h: 4, users24h: 3, lastUsed: NOW - 10 },
      { chainId: 1, token: trade().terms?.outputToken, orders24h: 4, users24h: 3, lastUsed: NOW - 10 },
    ])
  })

  test('keeps tokens and pairs of older orders without counts', () => {
    const [pair] = tallyOf([trade({ settledAt: NOW - 86_400 })]).pairs()
    expect(pair).toMatchObject({ orders24h: 0, users24h: 0, inputVolume24h: 0n, lastUsed: NOW - 86_400 })
    expect(pair?.medianFillMs24h).toBeUndefined()
  })

  test('takes the mean of the two in the middle as the median', () => {
    const orders = [1, 2, 5, 100].map((fillSeconds) => trade({ fillSeconds, settledAt: NOW }))
    expect(tallyOf(orders).pairs()[0]?.medianFillMs24h).toBe(3500)
  })

  test('counts an output for its destination chain, and each direction and chain as a pair of its own', () => {
    const there = trade({ settledAt: NOW, outputChainId: 10 })
    const back = trade({ settledAt: NOW, inputToken: B, outputToken: A })
    const tally = tallyOf([there, trade({ settledAt: NOW }), back])
    expect(tally.pairs().map(({ destinationChainId }) => destinationChainId)).toEqual([10, 1, 1])
    const output = there.terms?.outputToken
    expect(tally.tokens().filter(({ token }) => token === output)).toMatchObject([
      { chainId: 10, orders24h: 1 },
      { chainId: 1, orders24h: 1 },
    ])
  })

  test('does not count what is not settled, or whose terms are not known', () => {
    const { settled: _, ...steps } = trade().steps
    const tally = tallyOf([
      { ...trade(), steps },
      { ...trade(), terms: undefined },
    ])
    expect([tally.pairs(), tally.tokens()]).toEqual([[], []])
  })
})

test('listed ones come first, then those of more users, then those that were used last', () => {
  const items = [
    { name: 'never used', listed: false },
    { name: 'old', listed: false, users24h: 2, lastUsed: 1 },
    { name: 'new', listed: false, users24h: 2, lastUsed: 2 },
    { name: 'many users', listed: false, users24h: 9, lastUsed: 1 },
    { name: 'listed, never used', listed: true },
    { name: 'listed', listed: true, users24h: 1, lastUsed: 1 },
    { name: 'never used either', listed: false },
  ]
  const ranked = rankByUse(items, ({ listed }) => listed, 6).map(({ name }) => name)
  expect(ranked).toEqual(['listed', 'listed, never used', 'many users', 'new', 'old', 'never used'])
})
