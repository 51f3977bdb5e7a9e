import { expect, test } from 'vitest'
import { rank } from '../../src/domain/offer.js'
import { ORDER_TYPES, type OrderType, type Quote, type SignedQuote } from '../../src/domain/quote.js'
import { createRandom } from '../random.js'
import { signedQuote } from '../sample-quotes.js'

const BEYOND_DOUBLES = 2n ** 200n

/** The amount that solvers compete on. */
function competing({ orderType, inputAmount, outputAmount }: Quote): bigint {
  return orderType === 'EXACT_INPUT' ? outputAmount : inputAmount
}

/** Offers with these amounts to compete on; the nonce tells in which place each came. */
function offers(orderType: OrderType, amounts: readonly bigint[]): SignedQuote[] {
  const side = orderType === 'EXACT_INPUT' ? 'outputAmount' : 'inputAmount'
  return amounts.map((amount, place) => signedQuote({ orderType, [side]: amount, nonce: BigInt(place) }))
}

function places(ranked: readonly SignedQuote[]): number[] {
  return ranked.map(({ quote }) => Number(quote.nonce))
}

test('the most output is the best for an exact input', () => {
  expect(places(rank(offers('EXACT_INPUT', [5n, 9n, 7n])))).toEqual([1, 2, 0])
})

test('the least input is the best for an exact output', () => {
  expect(places(rank(offers('EXACT_OUTPUT', [7n, 9n, 5n])))).toEqual([2, 0, 1])
})

test.each(ORDER_TYPES)('equal offers of %s stay in the order in which they came', (orderType) => {
  expect(places(rank(offers(orderType, [4n, 4n, 4n, 4n, 4n])))).toEqual([0, 1, 2, 3, 4])
})

test('amounts are compared to the last digit, however large', () => {
  const amounts = [BEYOND_DOUBLES, BEYOND_DOUBLES + 1n, BEYOND_DOUBLES - 1n]
  expect(places(rank(offers('EXACT_INPUT', amounts)))).toEqual([1, 0, 2])
  expect(places(rank(offers('EXACT_OUTPUT', amounts)))).toEqual([2, 0, 1])
})

test('the list that was given stays as it was', () => {
  const given = offers('EXACT_INPUT', [1n, 2n])
  rank(given)
  expect(places(given)).toEqual([0, 1])
})

test('no offers rank to none', () => {
  expect(rank([])).toEqual([])
})

test('any offers rank best first, and by arrival where they are equal', () => {
  const random = createRandom(11)
  for (let round = 0; round < 200; round++) {
    const orderType = random.pick(ORDER_TYPES)
    const amounts = Array.from(
      { length: random.integer(0, 12) },
      () => BEYOND_DOUBLES + BigInt(random.integer(0, 4)),
    )
    const ranked = rank(offers(orderType, amounts))
    expect(ranked).toHaveLength(amounts.length)
    ranked.slice(1).forEach((offer, index) => {
      const before = ranked[index] ?? offer
      const gain = competing(before.quote) - competing(offer.quote)
      const isEqualInOrder = gain === 0n && before.quote.nonce < offer.quote.nonce
      expect(isEqualInOrder || (orderType === 'EXACT_INPUT' ? gain > 0n : gain < 0n)).toBe(true)
    })
  }
})
