import { expect, test } from 'vitest'
import { createRandom } from '../../../../test/support/random.js'
import { signedQuote } from '../../../../test/support/solvers/sample-quotes.js'
import { rank } from '../../src/quotes/offer.js'
import { ORDER_TYPES, type OrderType, type Quote, type SignedQuote } from '../../src/quotes/quote.js'

const BEYOND_DOUBLES = 2n ** 200n

/** The amount that decides the rank. */
function competing({ orderType, inputAmount, outputAmount }: Quote): bigint {
  return orderType === 'EXACT_INPUT' ? outputAmount : inputAmount
}

/** Offers with these amounts on the ranked side. The nonce is the index of arrival. */
function offers(orderType: OrderType, amounts: readonly bigint[]): SignedQuote[] {
  const side = orderType === 'EXACT_INPUT' ? 'outputAmount' : 'inputAmount'
  return amounts.map((amount, index) => signedQuote({ orderType, [side]: amount, nonce: BigInt(index) }))
}

function arrivals(ranked: readonly SignedQuote[]): number[] {
  return ranked.map(({ quote }) => Number(quote.nonce))
}

test('the most output is the best for an exact input', () => {
  expect(arrivals(rank(offers('EXACT_INPUT', [5n, 9n, 7n])))).toEqual([1, 2, 0])
})

test('the least input is the best for an exact output', () => {
  expect(arrivals(rank(offers('EXACT_OUTPUT', [7n, 9n, 5n])))).toEqual([2, 0, 1])
})

test('the given list stays unchanged', () => {
  const given = offers('EXACT_INPUT', [1n, 2n])
  rank(given)
  expect(arrivals(given)).toEqual([0, 1])
})

test('offers rank best first, and equal ones by arrival', () => {
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
