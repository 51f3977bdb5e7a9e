import { expect, it, vi } from 'vitest'
import type { Order } from '../../../gen/aggregator/v1/order_pb.js'
import { learnToken } from '../src/data/tokens/tokens.js'
import { PriceReference } from '../src/pages/swap/price-reference.js'

await vi.hoisted(async () => (await import('./page-globals.js')).stubPage())

const [SELL, BUY] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
for (const address of [SELL, BUY])
  learnToken(1, { address, symbol: 'T', decimals: 0, isListed: true, source: 'list' })
const PAIR = { inputToken: SELL, outputToken: BUY, inputAmount: '1' }

/** What the form says of an offer of 100 after fills at these prices, the earliest first. */
function referenceAfter(...prices: number[]) {
  const orders = prices.map(
    (price, at) => ({ ...PAIR, outputAmount: `${price}`, settled: { blockTime: BigInt(at) } }) as Order,
  )
  const { props } = PriceReference({ chainId: 1n, orders, swap: { ...PAIR, outputAmount: '100' } })
  return [
    props.class,
    [props.children]
      .flat()
      .map((part) => (typeof part === 'string' ? part : '…'))
      .join(''),
  ]
}

it.each([
  [
    'the last fill while prices rise',
    [98, 99, 100.5],
    'muted',
    '1 T (−49.8 bp) less than at …, the last fill here',
  ],
  [
    'the median while they fall',
    [102, 100.5, 99],
    'muted',
    '1 T (−49.8 bp) less than at …, the median of the last 3 fills here',
  ],
  [
    'the last ten',
    [500, 500, ...Array(10).fill(100)],
    'muted',
    'The same as at …, the median of the last 10 fills here',
  ],
  [
    'a price far above it, as a warning',
    [102, 102, 102],
    'warning',
    '2 T (−196.1 bp) less than at …, the median of the last 3 fills here',
  ],
])('a price is compared with %s', (_what, prices, tone, words) => {
  expect(referenceAfter(...prices)).toEqual([tone, words])
})

it('a price is compared with nothing while the pair has few fills here', () => {
  const { props } = PriceReference({ chainId: 1n, orders: [], swap: { ...PAIR, outputAmount: '100' } })
  expect(props.children).toBe('No price is known to compare with')
})
