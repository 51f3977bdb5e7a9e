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
function referenceAfter(prices: number[] | undefined) {
  const orders = prices?.map(
    (price, at) => ({ ...PAIR, outputAmount: `${price}`, settled: { blockTime: BigInt(at) } }) as Order,
  )
  const { props } = PriceReference({ chainId: 1n, orders, swap: { ...PAIR, outputAmount: '100' } })
  const [first, last] = props.children
  return [props.class, first, `${last}`.replace(/ at \S+ \S+,/, '')]
}

it.each([
  [
    'how far it is from the last fill where there are some',
    [98, 99, 100.5],
    'muted',
    ' Last fill here 100.50 of about 100.50 T; this price −49.8 bp.',
  ],
  [
    'that as a warning when it is far below',
    [98, 99, 102],
    'warning',
    ' Last fill here 102.00 of about 102.00 T; this price −196.1 bp.',
  ],
  ['nothing more while the pair has few', [100, 100], 'muted', 'false'],
  ['that the last fill comes, before orders are read', undefined, 'muted', ' Last fill here: …'],
])('beside a price stands that none from outside is known, and %s', (_what, prices, tone, last) => {
  expect(referenceAfter(prices)).toEqual([tone, 'No outside price known.', last])
})
