import { expect, it } from 'vitest'
import type { Order } from '../../../gen/aggregator/v1/order_pb.js'
import { fillsOfPair } from '../src/data/orders/pair-fills.js'
import { chartRange } from '../src/format/chart-range.js'

const WETH = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'
const USDC = '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9'

function fill(
  at: number,
  inputToken: string,
  inputAmount: string,
  outputToken: string,
  outputAmount: string,
) {
  return { inputToken, inputAmount, outputToken, outputAmount, settled: { blockTime: BigInt(at) } } as Order
}

it('fills of both directions have the rate of the pair, the earliest first', () => {
  const orders = [
    fill(20, USDC, '5000000000', WETH, '2000000000000000000'),
    fill(10, WETH.toLowerCase(), '1000000000000000000', USDC, '2400000000'),
    fill(5, WETH, '1', WETH, '1'),
    { inputToken: WETH, outputToken: USDC } as Order,
  ]
  expect(fillsOfPair(orders, [WETH, USDC], [18, 6])).toEqual([
    { at: 10, rate: 2400, volume: 2400 },
    { at: 20, rate: 2500, volume: 5000 },
  ])
})

it('a fill of nothing has no rate', () => {
  expect(fillsOfPair([fill(1, WETH, '0', USDC, '5')], [WETH, USDC], [18, 6])).toEqual([])
})

it('a few absurd prices do not flatten a chart', () => {
  const values = [1, 5_000_000, ...Array.from({ length: 78 }, (_, index) => 2490 + (index % 20))]
  const [low, high] = chartRange(values)
  expect(low).toBeGreaterThan(2400)
  expect(high).toBeLessThan(2600)
})

it('a price that stands still has room above and below', () => {
  const [low, high] = chartRange([2500, 2500, undefined])
  expect(high - low).toBeCloseTo(25)
})
